/* Another place where programs look for this header. */
#include "../media/hi_dvpp.h"
