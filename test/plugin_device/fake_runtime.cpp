// A runtime as the vendor's: memory that it knows, and as many cards as FAKE_CARDS says. FAKE_VERSION: its major
// version.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

namespace {

std::mutex mutex;
std::set<const void*> memory;
thread_local int chosen = -1;

}  // namespace

extern "C" {

/// Whether the address is a block of the card's memory, and the thread has chosen a card.
bool fake_card_owns(const void* data);
int cnrtGetLibVersion(int* major, int* minor, int* patch);
int cnrtGetDeviceCount(unsigned* count);
int cnrtGetDevice(int* card);
int cnrtSetDevice(int card);
int cnrtMalloc(void** data, std::size_t bytes);
int cnrtFree(void* data);
int cnrtMemcpy(void* to, void* from, std::size_t bytes, int direction);
int cnrtQueueCreate(void** queue);
int cnrtQueueDestroy(void* queue);
int cnrtQueueSync(void* queue);

bool fake_card_owns(const void* data) {
  const std::lock_guard lock(mutex);
  return memory.contains(data) && chosen == FAKE_CARDS - 1;
}

int cnrtGetLibVersion(int* major, int* minor, int* patch) {
  *major = FAKE_VERSION, *minor = 2, *patch = 1;
  return 0;
}

int cnrtGetDeviceCount(unsigned* count) {
  *count = FAKE_CARDS;
  return 0;
}

int cnrtGetDevice(int* card) {
  *card = chosen;
  return 0;
}

int cnrtSetDevice(int card) {
  chosen = card;
  return 0;
}

int cnrtMalloc(void** data, std::size_t bytes) {
  *data = bytes > (std::size_t{1} << 20) ? nullptr : std::malloc(bytes + 1);  // a small card
  if (*data == nullptr) return 100100;
  const std::lock_guard lock(mutex);
  memory.insert(*data);
  return 0;
}

int cnrtFree(void* data) {
  const std::lock_guard lock(mutex);
  memory.erase(data);
  std::free(data);
  return 0;
}

int cnrtMemcpy(void* to, void* from, std::size_t bytes, int direction) {
  if (!fake_card_owns(direction == 0 ? to : from)) return 100;
  std::memcpy(to, from, bytes);
  return 0;
}

int cnrtQueueCreate(void** queue) {
  *queue = &memory;
  return 0;
}

int cnrtQueueDestroy(void*) {
  return 0;
}

int cnrtQueueSync(void* queue) {
  return queue == &memory ? 0 : 100;
}

}  // extern "C"
