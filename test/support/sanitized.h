#pragma once

/// MLUOPS_TEST_SANITIZED: 1 in a build whose sanitizer brings an allocator of its own (address, thread, memory), else
/// 0.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MLUOPS_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define MLUOPS_TEST_SANITIZED 1
#endif
#endif

#ifndef MLUOPS_TEST_SANITIZED
#define MLUOPS_TEST_SANITIZED 0
#endif

/// MLUOPS_TEST_ADDRESS_SANITIZED: 1 under AddressSanitizer.
#if defined(__SANITIZE_ADDRESS__)
#define MLUOPS_TEST_ADDRESS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MLUOPS_TEST_ADDRESS_SANITIZED 1
#endif
#endif

#ifndef MLUOPS_TEST_ADDRESS_SANITIZED
#define MLUOPS_TEST_ADDRESS_SANITIZED 0
#endif
