// A million blocks freed in random order and allocated again; pairs of many sizes in turn.
#pragma once

namespace bench {

void add_mass();

}  // namespace bench
