// Forms: a card in a host, or host and device as one machine.
#include "support/blocks.h"
#include "support/settings.h"

namespace forms_test {

using namespace belay_test;

const char* const kFormProducts[] = {"310B", "310P", "910"};

Settings settings_of(const std::string& product, const std::string& form) {
  return {{"BELAY_PRODUCT", product}, {"BELAY_FORM", form}, {"BELAY_LEAKS", "off"}};
}

TEST(Forms, M437_EP_IsTheDefault_TheRunModeIsHost) {
  ::unsetenv("BELAY_FORM");
  for (const char* product : {"950", "A3", "A2", "310B", "310P", "910", "IPV350"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      aclrtRunMode mode = ACL_DEVICE;
      EXPECT_EQ(aclrtGetRunMode(&mode), ACL_SUCCESS) << product;
      EXPECT_EQ(mode, ACL_HOST) << product;
    });
    in_fresh_process(settings_of(product, "EP"), [&] {
      aclrtRunMode mode = ACL_DEVICE;
      EXPECT_EQ(aclrtGetRunMode(&mode), ACL_SUCCESS) << product;
      EXPECT_EQ(mode, ACL_HOST) << product;
    });
  }
}

TEST(Forms, M437_RCAndOpenControlCpu_MakeTheRunModeDevice) {
  for (const char* product : {"310B", "310P", "910", "IPV350"}) {
    for (const char* form : {"RC", "OPEN_CTRL_CPU"}) {
      in_fresh_process(settings_of(product, form), [&] {
        aclrtRunMode mode = ACL_HOST;
        EXPECT_EQ(aclrtGetRunMode(&mode), ACL_SUCCESS) << product << form;
        EXPECT_EQ(mode, ACL_DEVICE) << product << form;
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS) << product << form;
      });
    }
  }
}

TEST(Forms, M437_WithAnotherProduct_ItIsAConfigurationError_ToldInWords) {
  for (const char* product : {"950", "A3", "A2"}) {
    for (const char* form : {"RC", "OPEN_CTRL_CPU"}) {
      const Ending ending = run_captured(settings_of(product, form), [] {
        const int answer = aclrtSetDevice(0);
        std::fprintf(stderr, "%s", recent_message().c_str());
        void* block = nullptr;
        const bool works = answer == ACL_SUCCESS && aclrtMallocHost(&block, 64) == ACL_SUCCESS;
        ::_exit(works ? 9 : 0);
      });
      EXPECT_FALSE(WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 9)
          << "silently taken for EP: " << ending;
      EXPECT_TRUE(mentions(ending.err, "BELAY_FORM") || mentions(ending.err, form)) << product << ending;
    }
  }
}

TEST(Forms, M438_M176_M44_D49_MallocHost_TakesNormalPagesOfTheDevice) {
  for (const char* product : kFormProducts) {
    for (const char* form : {"RC", "OPEN_CTRL_CPU"}) {
      in_fresh_process(settings_of(product, form), [&] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        const std::size_t before = free_bytes();
        struct Case {
          std::size_t size, footprint;
        };
        for (const Case& test :
             {Case{1, 4096}, Case{4064, 4096}, Case{4065, 4096}, Case{4096, 4096}, Case{4097, 8192},
              Case{kMB, kMB}, Case{2 * kMB, 2 * kMB}, Case{2 * kMB + 1, 2 * kMB + 4096}}) {
          void* block = nullptr;
          ASSERT_EQ(aclrtMallocHost(&block, test.size), ACL_SUCCESS) << product << test.size;
          EXPECT_EQ(before - free_bytes(), test.footprint) << product << " " << form << " " << test.size;
          aclrtPtrAttributes attributes{};
          EXPECT_EQ(aclrtPointerGetAttributes(block, &attributes), ACL_SUCCESS);
          EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_HOST);
          EXPECT_EQ(attributes.pageSize, 4096U);
          EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
          EXPECT_EQ(free_bytes(), before);
        }
      });
    }
  }
}

TEST(Forms, M438_M174_ShortageOfTheDevice_Is207001) {
  Settings settings = settings_of("310P", "RC");
  settings.emplace_back("BELAY_HBM", "64M");
  in_fresh_process(settings, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const std::size_t before = free_bytes();
    EXPECT_EQ(before, 64 * kMB);
    void* block = sentinel();
    EXPECT_EQ(aclrtMallocHost(&block, 64 * kMB + 1), kShortage);
    EXPECT_EQ(block, nullptr);
    EXPECT_EQ(free_bytes(), before);
    ASSERT_EQ(aclrtMallocHost(&block, 64 * kMB), ACL_SUCCESS);
    EXPECT_EQ(free_bytes(), 0U);
    void* other = sentinel();
    EXPECT_EQ(aclrtMallocHost(&other, 1), kShortage);
    EXPECT_EQ(other, nullptr);
    EXPECT_EQ(aclrtMalloc(&other, 1, ACL_MEM_MALLOC_NORMAL_ONLY), kShortage) << "it is the same memory";
    EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
    EXPECT_EQ(free_bytes(), before);
  });
}

TEST(Forms, M438_M407_TheBlockOutlivesAReset) {
  in_fresh_process(settings_of("310B", "RC"), [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = nullptr;
    ASSERT_EQ(aclrtMallocHost(&block, 4096), ACL_SUCCESS);
    const Bytes bytes = pattern(4096, 4);
    std::copy(bytes.begin(), bytes.end(), at(block, 0));
    ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), at(block, 0)));
    EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
    EXPECT_EQ(aclrtFreeHost(block), kBadValue);
  });
}

TEST(Forms, M438_D49_1GPoliciesAnswer207000_P2POnesByTheProductNotByTheForm) {
  for (const std::string product : kFormProducts) {
    const bool p2p = product == "310P" || product == "910";
    for (const char* form : {"EP", "RC", "OPEN_CTRL_CPU"}) {
      in_fresh_process(settings_of(product.c_str(), form), [&] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        for (const unsigned policy : {3U, 4U, 5U, 6U, 7U}) {
          SCOPED_TRACE(product + " " + form + " policy " + std::to_string(policy));
          const bool works = p2p && policy <= 5;
          void* block = sentinel();
          EXPECT_EQ(aclrtMalloc(&block, 64, policy_of(policy)), works ? ACL_SUCCESS : kUnsupported);
          if (!works) {
            EXPECT_EQ(block, sentinel());
            continue;
          }
          EXPECT_EQ(aclrtMemset(block, 64, 3, 64), ACL_SUCCESS);
          EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
        }
      });
    }
  }
}

TEST(Forms, M438_D49_TheCpuReadsAndWritesBothKinds) {
  for (const char* form : {"RC", "OPEN_CTRL_CPU"}) {
    in_fresh_process(settings_of("310P", form), [] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      void *host = nullptr, *device = nullptr;
      ASSERT_EQ(aclrtMallocHost(&host, 4096), ACL_SUCCESS);
      ASSERT_EQ(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      const Bytes bytes = pattern(4096, 4);
      std::copy(bytes.begin(), bytes.end(), at(host, 0));
      std::copy(bytes.begin(), bytes.end(), at(device, 0));
      EXPECT_EQ(read_from(device, 4096), bytes);
      EXPECT_EQ(aclrtMemset(device, 4096, 3, 4096), ACL_SUCCESS);
      EXPECT_EQ(*at(device, 4095), 3);
      EXPECT_EQ(aclrtMemcpy(device, 4096, host, 4096, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), at(device, 0)));
      EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
      EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
    });
  }
}

TEST(Forms, M438_DeviceBlocksReportAsDevice_AndFreeHostRefusesThem) {
  in_fresh_process(settings_of("310P", "RC"), [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* device = nullptr;
    ASSERT_EQ(aclrtMalloc(&device, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    EXPECT_TRUE(alive(device));
    EXPECT_EQ(aclrtFreeHost(device), kBadValue);
    EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
  });
}

TEST(Forms, M439_M43_MallocHost_StillStartsAtAPage) {
  for (const char* product : kFormProducts) {
    in_fresh_process(settings_of(product, "RC"), [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      std::vector<void*> blocks;
      for (const std::size_t size : {1U, 31U, 33U, 100U, 4095U, 4097U, 10000U}) {
        void *host = nullptr, *device = nullptr;
        ASSERT_EQ(aclrtMallocHost(&host, size), ACL_SUCCESS);
        ASSERT_EQ(aclrtMalloc(&device, size, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
        EXPECT_EQ(number(host) % 4096, 0U) << product << size;
        EXPECT_EQ(number(device) % 64, 0U) << product << size;
        EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
        blocks.push_back(host);
      }
      for (void* block : blocks) EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
    });
  }
}

TEST(Forms, M176_M45_SegmentsOfAHostBlock_NeedNoConsentOfTheLibrary) {
  in_fresh_process(settings_of("310P", "RC"), [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    // Three segments of 100 bytes: m is 160, the step 192.
    void* block = nullptr;
    ASSERT_EQ(aclrtMallocHost(&block, 2 * 192 + 160), ACL_SUCCESS);
    for (const std::size_t start : {0U, 192U, 384U}) {
      EXPECT_EQ(aclrtMemset(at(block, start), 160, static_cast<int>(start / 192), 100), ACL_SUCCESS);
    }
    EXPECT_EQ(*at(block, 99), 0);
    EXPECT_EQ(*at(block, 192 + 99), 1);
    EXPECT_EQ(*at(block, 384 + 99), 2);
    EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  });
}

}  // namespace forms_test
