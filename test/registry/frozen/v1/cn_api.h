/* Stand-in for the vendor's driver header; steps aside when the vendor's own cn_api.h is on the include path behind
 * this one. Clients of these operators include it but use nothing of it except the names below.
 */
#pragma GCC system_header /* #include_next is an extension */
#if defined(__has_include_next)
#if __has_include_next(<cn_api.h>)
#include_next <cn_api.h>
#define MLUOPS_VENDOR_CN_API 1
#endif
#endif

#if !defined(MLUOPS_VENDOR_CN_API) && !defined(MLUOPS_CN_API_STANDIN_H_)
#define MLUOPS_CN_API_STANDIN_H_

/** What a driver call returns. */
typedef enum { CN_SUCCESS = 0 } CNresult;
/** Ordinal of a device. */
typedef int CNdev;
/** A device context. */
typedef struct CNcontextStandIn* CNcontext;

#endif /* stand-in */
