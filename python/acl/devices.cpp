// acl.rt: devices, what they are, and access between them.
#include "call.h"

namespace belay::python {

Functions devices() {
  using Id = Out<std::int32_t>;
  return {
      row<"acl.rt.set_device", aclrtSetDevice, kReleased, I32>(R"((dev: int) -> ret: int

Chooses the device that this thread works on and makes its default context current. Counted: each set_device
needs a reset_device. Other threads choose for themselves. [Y-57, Y-45])"),
      row<"acl.rt.reset_device", aclrtResetDevice, kReleased, I32>(R"((dev: int) -> ret: int

Undoes one set_device. The last one waits for the work of the device's default context and frees every block of
memory that is still allocated. [Y-57])"),
      row<"acl.rt.reset_device_force", aclrtResetDeviceForce, kReleased, I32>(R"((dev: int) -> ret: int

Resets the device however often it was set. [Y-57])"),
      row<"acl.rt.get_device", aclrtGetDevice, kHeld, Out<std::int32_t>>(R"(() -> (dev: int, ret: int)

The device of this thread. Without one `ret` is 107002 and `dev` 0. [Y-58])"),
      row<"acl.rt.get_device_count", aclrtGetDeviceCount, kHeld, Out<std::uint32_t>>(
          R"(() -> (count: int, ret: int)

How many devices this process sees; works before init(). Always a pair. [Y-59])"),
      row<"acl.rt.get_run_mode", aclrtGetRunMode, kHeld, Out<aclrtRunMode>>(R"(() -> (mode: int, ret: int)

1: the program runs on a host, and the device is a card in it. 0: it runs on the device (RC form). [Y-60])"),
      row<"acl.rt.set_ts_device", aclrtSetTsDevice, kHeld, I32>(R"((ts_id: int) -> ret: int

Chooses the task scheduler of the device.)"),
      row<"acl.rt.get_device_info", aclrtGetDeviceInfo, kHeld, U32, U32, Out<std::int64_t>>(
          R"((dev: int, attr: int) -> (value: int, ret: int)

An attribute of a device, in full 64 bits. [Y-61, Y-186])"),
      row<"acl.rt.get_device_capability", aclrtGetDeviceCapability, kHeld, I32, U32, Out<std::int32_t>>(
          R"((dev: int, feature: int) -> (value: int, ret: int)

Whether a device has a feature. [Y-65])"),
      row<"acl.rt.get_device_utilization_rate", aclrtGetDeviceUtilizationRate, kHeldUnsigned, I32,
          Out<aclrtUtilizationInfo>>(R"((dev: int) -> (rates: dict, ret: int)

Percentages with the keys cube_utilization, vector_utilization, aicpu_utilization, memory_utilization and
utilization_extend. The code is unsigned. [Y-62])"),
      row<"acl.rt.query_device_status", aclrtQueryDeviceStatus, kHeld, I32, Out<aclrtDeviceStatus, 65535>>(
          R"((dev: int) -> (status: int, ret: int)

0 normal, 1 abnormal, 65535 unknown. [Y-63])"),
      row<"acl.rt.device_get_uuid", aclrtDeviceGetUuid, kHeld, I32, Out<aclrtUuid>>(
          R"((dev: int) -> (uuid: dict, ret: int)

{"bytes": [16 ints]}. [Y-64])"),
      row<"acl.rt.get_devices_topo", aclrtGetDevicesTopo, kHeld, U32, U32, Out<std::uint64_t>>(
          R"((dev: int, other: int) -> (mask: int, ret: int)

How two devices are connected. [Y-65])"),
      row<"acl.rt.device_get_stream_priority_range", aclrtDeviceGetStreamPriorityRange, kHeld,
          Out<std::int32_t>, Out<std::int32_t>>(R"(() -> (least: int, greatest: int, ret: int)

The priorities that streams may have; smaller is more urgent. [Y-65])"),
      row<"acl.rt.device_get_bare_tgid", aclrtDeviceGetBareTgid, kHeld, Out<std::int32_t>>(
          R"(() -> (pid: int, ret: int)

The id of this process, for lists of processes that share memory or notifies. [Y-134])"),
      row<"acl.rt.get_logic_dev_id_by_user_dev_id", aclrtGetLogicDevIdByUserDevId, kHeld, I32, Id>(
          R"((id: int) -> (id: int, ret: int)

The device's number in the machine, from the number that this process sees. [Y-65])"),
      row<"acl.rt.get_user_dev_id_by_logic_dev_id", aclrtGetUserDevIdByLogicDevId, kHeld, I32, Id>(
          R"((id: int) -> (id: int, ret: int)

The number that this process sees, from the device's number in the machine. [Y-65])"),
      row<"acl.rt.get_logic_dev_id_by_phy_dev_id", aclrtGetLogicDevIdByPhyDevId, kHeld, I32, Id>(
          R"((id: int) -> (id: int, ret: int)

From the physical number. [Y-65])"),
      row<"acl.rt.get_phy_dev_id_by_logic_dev_id", aclrtGetPhyDevIdByLogicDevId, kHeld, I32, Id>(
          R"((id: int) -> (id: int, ret: int)

To the physical number. [Y-65])"),
      row<"acl.rt.synchronize_device", aclrtSynchronizeDevice, kReleased>(R"(() -> ret: int

Waits for all work of the current context's device. [Y-77])"),
      row<"acl.rt.synchronize_device_with_timeout", aclrtSynchronizeDeviceWithTimeout, kReleased, I32>(
          R"((ms: int) -> ret: int

The same for at most `ms` milliseconds, -1 for ever; then 507046. [Y-77])"),
      row<"acl.rt.device_can_access_peer", aclrtDeviceCanAccessPeer, kHeld, Out<std::int32_t>, I32, I32>(
          R"((dev: int, peer: int) -> (can: int, ret: int)

Whether one device can reach the memory of another. [Y-141])"),
      row<"acl.rt.device_enable_peer_access", aclrtDeviceEnablePeerAccess, kHeld, I32, U32>(
          R"((peer: int, flags: int) -> ret: int

Lets the current device reach the memory of `peer`; `flags` is 0. [Y-141])"),
      row<"acl.rt.device_disable_peer_access", aclrtDeviceDisablePeerAccess, kHeld, I32>(
          R"((peer: int) -> ret: int

Ends this access. [Y-141])"),
      row<"acl.rt.device_peer_access_status", aclrtDevicePeerAccessStatus, kHeld, I32, I32,
          Out<std::int32_t>>(
          R"((dev: int, peer: int) -> (status: int, ret: int)

0 off, 1 on. [Y-141])"),
      row<"acl.rt.set_device_sat_mode", aclrtSetDeviceSatMode, kHeld, I32>(R"((mode: int) -> ret: int

What the device's numbers do on overflow: 0 saturate, 1 become infinity or NaN.)"),
      row<"acl.rt.get_device_sat_mode", aclrtGetDeviceSatMode, kHeld, Out<aclrtFloatOverflowMode>>(
          R"(() -> (mode: int, ret: int)

What the device's numbers do on overflow.)"),
      row<"acl.rt.get_overflow_status", aclrtGetOverflowStatus, kReleased, Ptr, Ptr, Ptr>(
          R"((ptr: int, size: int, stream: int) -> ret: int

Has the stream write the overflow state into 64 bytes of device memory.)"),
      row<"acl.rt.reset_overflow_status", aclrtResetOverflowStatus, kReleased, Ptr>(
          R"((stream: int) -> ret: int

Has the stream clear the overflow state.)"),
      row<"acl.rt.device_task_abort", aclrtDeviceTaskAbort, kReleased, I32, U32>(
          R"((dev: int, ms: int) -> ret: int

Stops and drops the work of a device; waits at most `ms` milliseconds for that, 0 for ever.)"),
      row<"acl.rt.get_device_res_limit", aclrtGetDeviceResLimit, kHeld, I32, I32, Out<std::uint32_t>>(
          R"((dev: int, type: int) -> (value: int, ret: int)

How many cores of a type this process may use.)"),
      row<"acl.rt.set_device_res_limit", aclrtSetDeviceResLimit, kHeld, I32, I32, U32>(
          R"((dev: int, type: int, value: int) -> ret: int

Sets how many cores of a type this process may use.)"),
      row<"acl.rt.reset_device_res_limit", aclrtResetDeviceResLimit, kHeld, I32>(R"((dev: int) -> ret: int

Allows all cores again.)"),
  };
}

}  // namespace belay::python
