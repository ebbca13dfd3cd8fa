/*
 * Everything in C. The C++ overloads are in acl_rt_api.h, media memory
 * is in ops/acl_dvpp.h and media/hi_dvpp.h; include those by name.
 */
#ifndef INC_EXTERNAL_ACL_ACL_H_
#define INC_EXTERNAL_ACL_ACL_H_

#include "acl_rt.h"
#include "acl_op.h"
#include "acl_mdl.h"

#endif /* INC_EXTERNAL_ACL_ACL_H_ */
