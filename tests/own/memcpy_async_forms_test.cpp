// aclrtMemcpyAsync where host and device are one machine.
#include "support/gates.h"
#include "support/settings.h"

namespace memcpy_async_forms_test {

using namespace belay_test;

TEST(MemcpyAsyncForms, M273_WhereHostAndDeviceAreOneMachine_AllDirectionsWork) {
  for (const char* product : {"310B", "310P", "910"}) {
    for (const char* form : {"RC", "OPEN_CTRL_CPU"}) {
      in_fresh_process({{"BELAY_PRODUCT", product}, {"BELAY_FORM", form}, {"BELAY_LEAKS", "off"}}, [&] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        Stream stream;
        Pinned first{256}, second{256};
        Device device{256};
        write_to(first.get(), pattern(256, 1));
        write_to(second.get(), pattern(256, 2));
        EventGate hold{stream};
        EXPECT_EQ(aclrtMemcpyAsync(device.get(), 256, first.get(), 256, kind_of(1), stream.get()),
                  ACL_SUCCESS);
        EXPECT_EQ(aclrtMemcpyAsync(second.get(), 256, device.get(), 256, kind_of(2), stream.get()),
                  ACL_SUCCESS);
        EXPECT_EQ(aclrtMemcpyAsync(first.get(), 128, second.get(128), 128, kind_of(0), stream.get()),
                  ACL_SUCCESS)
            << product << form << ": host to host is no exception here";
        EXPECT_EQ(read_from(second.get(), 256), pattern(256, 2)) << "queued";
        hold.open();
        EXPECT_EQ(finish(stream), ACL_SUCCESS);
        EXPECT_EQ(read_from(second.get(), 256), pattern(256, 1)) << product << form;
        EXPECT_EQ(read_from(first.get(), 128), read_from(second.get(128), 128)) << product << form;
        Bytes plain = pattern(256, 4), other(256);
        EXPECT_EQ(aclrtMemcpyAsync(other.data(), 256, plain.data(), 256, kind_of(0), stream.get()),
                  ACL_SUCCESS);
        EXPECT_EQ(finish(stream), ACL_SUCCESS);
        EXPECT_EQ(other, plain) << product << form;
      });
    }
  }
}

}  // namespace memcpy_async_forms_test
