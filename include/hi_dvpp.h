/* Another place where programs look for this header. */
#include "acl/media/hi_dvpp.h"
