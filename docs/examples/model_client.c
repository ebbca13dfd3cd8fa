/* Loads a model into device memory; for docs/command.md, which asks what it needs. It is compiled, never run.
 */
#include <stdint.h>

#include "acl/acl.h"

int load_model(const char* path, uint32_t* model) {
  size_t work = 0, weights = 0;
  void *work_memory = NULL, *weight_memory = NULL;
  if (aclmdlQuerySize(path, &work, &weights) != ACL_SUCCESS) return 1;
  if (aclrtMalloc(&work_memory, work, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 1;
  if (aclrtMalloc(&weight_memory, weights, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 1;
  return aclmdlLoadFromFileWithMem(path, model, work_memory, work, weight_memory, weights) != ACL_SUCCESS;
}
