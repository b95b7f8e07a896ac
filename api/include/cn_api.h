#if defined(__has_include_next)
#if __has_include_next(<cn_api.h>)
#include_next <cn_api.h>
#endif
#endif
