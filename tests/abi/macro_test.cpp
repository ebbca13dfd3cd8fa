// The macros: versions, flags, and which header brings which.

#include "acl/acl.h"

// the one include above must have opened all of these.
#if !defined(INC_EXTERNAL_ACL_ACL_H_) || !defined(INC_EXTERNAL_ACL_ACL_RT_H_) ||                    \
    !defined(INC_EXTERNAL_ACL_ACL_OP_H_) || !defined(INC_EXTERNAL_ACL_ACL_MODEL_H_) ||              \
    !defined(INC_EXTERNAL_ACL_ACL_BASE_H_) || !defined(INC_EXTERNAL_ACL_ACL_BASE_RT_H_) ||          \
    !defined(INC_EXTERNAL_ACL_ACL_BASE_MDL_H_) || !defined(INC_EXTERNAL_ACL_ACL_RT_ALLOCATOR_H_) || \
    !defined(INC_EXTERNAL_ACL_ERROR_CODES_RT_ERROR_CODES_H_) ||                                     \
    !defined(INC_EXTERNAL_ACL_ERROR_CODES_GE_ERROR_CODES_H_)
#error "acl/acl.h does not bring the whole tree"
#endif
// V-8: the C++ overloads are only there when asked for.
#ifdef INC_EXTERNAL_ACL_ACL_RT_API_H_
#error "acl/acl.h must not bring the C++ overloads"
#endif

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "pin.h"

#define TEXT_OF(x) #x
#define EXPANDED_TEXT_OF(x) TEXT_OF(x)

namespace {

TEST(HeaderTree, R1_OneIncludeBringsTheCHeadersOnly) {
  // The checks are the preprocessor lines at the head of this file.
  SUCCEED();
}

TEST(VersionMacros, R5_Are1_17_0) {
  PIN(ACL_MAJOR_VERSION, 1);
  PIN(ACL_MINOR_VERSION, 17);
  PIN(ACL_PATCH_VERSION, 0);
#if ACL_MAJOR_VERSION != 1 || ACL_MINOR_VERSION != 17 || ACL_PATCH_VERSION != 0
  FAIL() << "the preprocessor sees other numbers";
#endif
}

TEST(DeclarationMacros, R3_VisibilityIsEmptyUnlessAskedFor) {
  EXPECT_EQ(std::string_view(EXPANDED_TEXT_OF(ACL_FUNC_VISIBILITY)), "");
#if defined(__GNUC__) && !defined(__clang__)
  EXPECT_NE(std::string_view(EXPANDED_TEXT_OF(ACL_DEPRECATED)).find("deprecated"), std::string_view::npos);
  EXPECT_NE(std::string_view(EXPANDED_TEXT_OF(ACL_DEPRECATED_MESSAGE("why"))).find("why"),
            std::string_view::npos);
#endif
}

TEST(EventMacros, Values) {
  PIN(ACL_EVENT_SYNC, 0x1);
  PIN(ACL_EVENT_CAPTURE_STREAM_PROGRESS, 0x2);
  PIN(ACL_EVENT_TIME_LINE, 0x8);
  PIN(ACL_EVENT_DEVICE_USE_ONLY, 0x10);
  PIN(ACL_EVENT_EXTERNAL, 0x20);
  PIN(ACL_EVENT_IPC, 0x40);
  PIN(ACL_EVENT_RECORD_DEFAULT, 0);
  PIN(ACL_EVENT_RECORD_EXTERNAL, 1);
  PIN(ACL_EVENT_WAIT_DEFAULT, 0);
  PIN(ACL_EVENT_WAIT_EXTERNAL, 1);
  PIN(ACL_IPC_EVENT_HANDLE_SIZE, 64);
}

TEST(StreamMacros, Values) {
  PIN(ACL_STREAM_FAST_LAUNCH, 0x1);
  PIN(ACL_STREAM_FAST_SYNC, 0x2);
  PIN(ACL_STREAM_PERSISTENT, 0x4);
  PIN(ACL_STREAM_HUGE, 0x8);
  PIN(ACL_STREAM_CPU_SCHEDULE, 0x10);
  PIN(ACL_STREAM_DEVICE_USE_ONLY, 0x20);
  PIN(ACL_CONTINUE_ON_FAILURE, 0);
  PIN(ACL_STOP_ON_FAILURE, 1);
}

TEST(ValueWaitMacros, Values) {
  PIN(ACL_STREAM_WAIT_VALUE_GEQ, 0);
  PIN(ACL_STREAM_WAIT_VALUE_EQ, 1);
  PIN(ACL_STREAM_WAIT_VALUE_AND, 2);
  PIN(ACL_STREAM_WAIT_VALUE_NOR, 3);
  static_assert(std::is_same_v<decltype(ACL_STREAM_WAIT_VALUE_NOR), unsigned int>);
}

TEST(NotifyMacros, Values) {
  PIN(ACL_NOTIFY_DEFAULT, 0);
  PIN(ACL_NOTIFY_DEVICE_USE_ONLY, 1);
  PIN(ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT, 0);
  PIN(ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION, 2);
  PIN(ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT, 0);
  PIN(ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS, 2);
}

TEST(TopologyMacros, R83_AreSingleBitsOf64) {
  PIN(ACL_RT_DEVS_TOPOLOGY_HCCS, 0x1);
  PIN(ACL_RT_DEVS_TOPOLOGY_PIX, 0x2);
  PIN(ACL_RT_DEVS_TOPOLOGY_PIB, 0x4);
  PIN(ACL_RT_DEVS_TOPOLOGY_PHB, 0x8);
  PIN(ACL_RT_DEVS_TOPOLOGY_SYS, 0x10);
  PIN(ACL_RT_DEVS_TOPOLOGY_SIO, 0x20);
  PIN(ACL_RT_DEVS_TOPOLOGY_HCCS_SW, 0x40);
  static_assert(std::is_same_v<decltype(ACL_RT_DEVS_TOPOLOGY_HCCS), unsigned long long>);
}

TEST(DeviceMacros, R81_R82_Values) {
  PIN(ACL_HOST_DEVICE_CONNECT_TYPE_PCIE, 0);
  PIN(ACL_HOST_DEVICE_CONNECT_TYPE_HCCS, 1);
  PIN(ACL_HOST_DEVICE_CONNECT_TYPE_UB, 2);
  PIN(ACL_DEVICE_FORM_FACTOR_POD, 0);
  PIN(ACL_DEVICE_FORM_FACTOR_A_K, 1);
  PIN(ACL_DEVICE_FORM_FACTOR_A_X, 2);
  PIN(ACL_DEVICE_FORM_FACTOR_PCIE_CARD, 3);
  PIN(ACL_DEV_FEATURE_SUPPORT, 1);
  PIN(ACL_DEV_FEATURE_NOT_SUPPORT, 0);
}

TEST(FaultMacros, R270_R271_Values) {
  PIN(MAX_MEM_UCE_INFO_ARRAY_SIZE, 128);
  PIN(UCE_INFO_RESERVED_SIZE, 14);
  PIN(ACL_RT_MEM_UCE_INFO_MAX_NUM, 20);
  PIN(ACL_RT_MAX_RECORD_PA_NUM_PER_DEV, 20);
  static_assert(std::is_same_v<decltype(ACL_RT_MAX_RECORD_PA_NUM_PER_DEV), unsigned>);
}

TEST(VirtualMemoryMacros, V1_Values) {
  PIN(ACL_RT_VMM_EXPORT_FLAG_DEFAULT, 0);
  PIN(ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION, 1);
  PIN(ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT, 0);
  PIN(ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION, 1);
  PIN(ACL_RT_IPC_MEM_IMPORT_FLAG_DEFAULT, 0);
  PIN(ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS, 1);
  PIN(ACL_RT_MEM_ATTACH_GLOBAL, 1);
  PIN(ACL_RT_MEM_LINK_IDX_0, 0);
  PIN(ACL_RT_MEM_LINK_IDX_1, 1);
  PIN(ACL_RT_CMO_MAX_BARRIER_NUM, 6);
  PIN(ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO, 0);
  PIN(ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS, 1);
  PIN(ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_ONE_PORT_PATH, 2);
  PIN(ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH, 3);
  static_assert(std::is_same_v<decltype(ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION), unsigned long>);
  static_assert(std::is_same_v<decltype(ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION), unsigned long>);
  static_assert(std::is_same_v<decltype(ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS), unsigned long>);
  static_assert(std::is_same_v<decltype(ACL_RT_MEM_ATTACH_GLOBAL), unsigned>);
  static_assert(std::is_same_v<decltype(ACL_RT_MEM_LINK_IDX_1), unsigned>);
  static_assert(std::is_same_v<decltype(ACL_RT_CMO_MAX_BARRIER_NUM), unsigned>);
  static_assert(std::is_same_v<decltype(ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS), int>);
}

TEST(PackageVersionMacros, R241_R242_Lengths) {
  PIN(ACL_PKG_VERSION_MAX_SIZE, 128);
  PIN(ACL_PKG_VERSION_PARTS_MAX_SIZE, 64);
}

TEST(AppLogMacro, R237_PassesThePlaceOfUse) {
  const std::string_view expansion = EXPANDED_TEXT_OF(ACL_APP_LOG(ACL_INFO, "%d items", 3));
  EXPECT_NE(expansion.find("aclAppLog("), std::string_view::npos) << expansion;
  EXPECT_NE(expansion.find("__func__"), std::string_view::npos) << expansion;
  EXPECT_NE(expansion.find("macro_test.cpp"), std::string_view::npos) << expansion;
  EXPECT_NE(expansion.find("\"%d items\", 3)"), std::string_view::npos) << expansion;
}

}  // namespace
