// BELAY_SCHEDULE and BELAY_LINK: what they accept, and what a value that does not fit does.
#include "support/blocks.h"
#include "support/settings.h"

namespace schedule_settings_test {

using namespace belay_test;

struct Variable {
  const char* name;
  std::vector<std::string> wrong, right;
  std::vector<const char*> accepted;  // words that the message gives as such
};

const std::vector<Variable>& variables() {
  static const std::vector<Variable> all = {
      {"BELAY_SCHEDULE",
       {"fast",
        "seed",
        "seed:",
        "seed:x",
        "seed:1x",
        "seed:-1",
        "seed: 1",
        "seed:+1",
        "seed:0x10",
        "seed:1.5",
        "seed:18446744073709551616",
        "seed:1,2",
        "seed:1,seed:2",
        "eager,lazy",
        "lazy ",
        " lazy",
        "eagerly",
        "1",
        "fifo:1",
        ":"},
       {"", "eager", "fifo", "lazy", "EAGER", "Lazy", "seed:0", "seed:1", "SEED:7",
        "seed:18446744073709551615"},
       {"eager", "fifo", "lazy", "seed:"}},
      {"BELAY_LINK",
       {"fast",
        "h2d",
        "h2d:",
        "h2d:1",
        "h2d:GB/s",
        "h2d:-1GB/s",
        "h2d:0GB/s",
        "h2d:1GB",
        "h2d:1Gb/h",
        "h2d:1XB/s",
        "x:1GB/s",
        ":1GB/s",
        "1GB/s",
        "h2d=1GB/s",
        "h2d:nanGB/s",
        "h2d:infGB/s",
        "h2d:99999999999TB/s",
        "h2d:1e400GB/s",
        "h2d:1GB/s,h2d:2GB/s",
        "h2d:1GB/s,",
        ",h2d:1GB/s",
        "h2d:1GB/s,,d2h:1GB/s",
        ",",
        "h2d:1GB/s;d2h:1GB/s",
        "h2d:1GB/s d2h:1GB/s",
        "h2h:1GB/s"},
       {"", "h2d:25GB/s", "d2h:25GB/s", "d2d:1TB/s", "p2p:800MB/s", "h2d:4000KB/s", "H2D:25GB/s",
        "h2d:25GB/s,d2h:24GB/s,d2d:200GB/s,p2p:56GB/s", "p2p:56GB/s,h2d:1GB/s"},
       {"h2d", "d2h", "d2d", "p2p", "GB/s"}},
  };
  return all;
}

TEST(ScheduleSettings, R32_R220_AValueThatDoesNotFit_IsRefusedInWords) {
  for (const Variable& variable : variables()) {
    for (const std::string& value : variable.wrong) {
      SCOPED_TRACE(std::string{variable.name} + "=" + value);
      in_fresh_process({{variable.name, value}}, [&] {
        EXPECT_EQ(aclrtSetDevice(0), 507033);
        const std::string message = recent_message();
        EXPECT_NE(message.find(variable.name), std::string::npos) << message;
        EXPECT_NE(message.find("'" + value + "'"), std::string::npos) << message;
        for (const char* const word : variable.accepted)
          EXPECT_NE(message.find(word), std::string::npos) << word << " is accepted: " << message;
        EXPECT_EQ(aclInit(nullptr), 500000);
        aclrtContext context = nullptr;
        EXPECT_EQ(aclrtCreateContext(&context, 0), 507033) << "and it stays so";
        aclrtStream stream = sentinel();
        EXPECT_NE(aclrtCreateStream(&stream), ACL_SUCCESS);
        EXPECT_EQ(stream, sentinel());
      });
    }
  }
}

TEST(ScheduleSettings, R32_ValuesThatFit) {
  for (const Variable& variable : variables()) {
    for (const std::string& value : variable.right) {
      SCOPED_TRACE(std::string{variable.name} + "=" + value);
      in_fresh_process({{variable.name, value}}, [] {
        EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS) << recent_message();
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS) << recent_message();
        aclrtStream stream = nullptr;
        EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
        EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
        EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
      });
    }
  }
}

// A forked child reads its environment again, also where the parent had another schedule.
TEST(ScheduleSettings, R69_AChildHasAScheduleOfItsOwn) {
  in_fresh_process({{"BELAY_SCHEDULE", "lazy"}}, [] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    in_fresh_process({{"BELAY_SCHEDULE", "never"}}, [] { EXPECT_EQ(aclrtSetDevice(0), 507033); });
    in_fresh_process({{"BELAY_SCHEDULE", "fifo"}}, [] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
}

}  // namespace schedule_settings_test
