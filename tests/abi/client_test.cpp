// Calls the two client files, which include the headers in the odd ways of C-8.

#include <cstddef>

#include <gtest/gtest.h>

#include "acl/acl.h"

extern "C" {
std::size_t client_c99_sizes(void);
int client_c99_classify(aclError error);
std::size_t client_cxx11_sizes(void);
int client_cxx11_overloads(void);
}

namespace {

constexpr std::size_t sizes = 12 + 16 + 8 + 28 + 32 + 112 + 4;

TEST(Clients, C8_M17_C99SeesTheSameLayout) {
  EXPECT_EQ(client_c99_sizes(), sizes + 1 + 3 + 3);  // huge pages, P2P DDR, device 3
}

TEST(Clients, C8_R4_C99SeesTheThreeFormsOfErrors) {
  EXPECT_EQ(client_c99_classify(100000), 1);
  EXPECT_EQ(client_c99_classify(145000), 2);
  EXPECT_EQ(client_c99_classify(107002), 3);
  EXPECT_EQ(client_c99_classify(207001), 4);
  EXPECT_EQ(client_c99_classify(0), 0);
}

TEST(Clients, C8_Cxx11SeesTheSameLayout) { EXPECT_EQ(client_cxx11_sizes(), sizes); }

TEST(Clients, C8_R6_M413_Cxx11HasTheOverloadsInsideExternC) { EXPECT_EQ(client_cxx11_overloads(), 16); }

}  // namespace
