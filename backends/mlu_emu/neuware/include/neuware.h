// What cncc's rewriting calls: launches, on-chip objects, inline MLISA. Not for kernels.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/mlu_emu/device/scalar_spans.h"
#include "cnrt.h"

namespace neuware {

/// The literal of `condition ? 0 : x` with x of type T: a half, a null pointer, or what it was.
template <class T, class N>
constexpr auto beside(N value) {
  using V = std::decay_t<T>;
  if constexpr (std::is_class_v<V> && std::is_trivial_v<V> && std::is_constructible_v<V, N>) {
    return V(value);
  } else if constexpr (std::is_pointer_v<V> || std::is_member_pointer_v<V> || std::is_null_pointer_v<V>) {
    return nullptr;
  } else {
    return value;
  }
}

enum class Space { kNram, kWram, kSram };

struct Objects;

/// A .mlu file: where its on-chip objects lie, and what it was compiled for.
struct Unit {
  Unit(const char* file, int arch);
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;
  ~Unit();

  const char* file;
  int arch;
  std::size_t used[3] = {0, 0, 0};  // bytes laid out, by Space; of WRAM those of a lane
  Objects* objects = nullptr;       // those laid out
};

/// The place in the source of the word that runs.
struct Site {
  const char* file;
  int line;
  const Unit* unit;
};
extern __attribute__((tls_model("initial-exec"))) __thread Site site;

/// Stands before every word.
inline void at(const Unit& unit, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  site.file = file;
  site.line = line;
  site.unit = &unit;
}

/// Ends the launch: scalar code leaves an array. Gives a memory core an index it can go on with.
long long index_outside(const void* array, const char* name, long long index, std::size_t count, const char* file,
                        int line);

/// Stands in the brackets behind an on-chip array's name, or behind that of what hides it.
template <class A, class I>
inline I index(const A& array, const char* name, I i, const char* file = __builtin_FILE(),
               int line = __builtin_LINE()) {
  if constexpr (std::is_array_v<A> && (std::is_integral_v<I> || std::is_enum_v<I>)) {
    constexpr std::size_t count = std::extent_v<A>;
    if (__builtin_expect(static_cast<std::size_t>(i) >= count, 0)) {
      const void* at = const_cast<const void*>(static_cast<const volatile void*>(&array));
      return static_cast<I>(index_outside(at, name, static_cast<long long>(i), count, file, line));
    }
  }
  return i;
}

/// What scalar code does to an element: those of ScalarTouch; a store, and both, to a member of a class; nothing but to
/// make a reference to it.
enum class Touch { kLoad, kStore, kUpdate, kPart, kStoredPart, kUpdatedPart, kPlace };
constexpr bool is_part(Touch touch) {
  return touch >= Touch::kPart;
}
constexpr bool loads(Touch touch) {
  return touch != Touch::kStore && touch != Touch::kStoredPart && touch != Touch::kPlace;
}
constexpr bool stores(Touch touch) {
  return touch == Touch::kStore || touch == Touch::kUpdate || touch == Touch::kStoredPart ||
         touch == Touch::kUpdatedPart;
}
// A pointer: there is little room for variables of this model in a process that loads libraries as it goes.
extern __attribute__((tls_model("initial-exec"))) __thread mluops::emu::ScalarSpans* spans;

/// What scalar code has done since somebody looked, and where its memories lie.
struct Scalars {
  long long operations, nram_loads, nram_stores, gdram_loads, gdram_stores, gdram_bytes;
  const char* nram;        // of the running core
  std::size_t nram_bytes;  // 0 outside of a task
  const char* stack;       // local variables lie below
};
extern __attribute__((tls_model("initial-exec"))) __thread Scalars scalars;

/// What lies there is a local variable.
inline bool on_stack(const volatile void* address) {
  constexpr std::size_t kStack = std::size_t{8} << 20;
  return static_cast<std::size_t>(scalars.stack - static_cast<const char*>(const_cast<const void*>(address))) <= kStack;
}

/// Counts a scalar's load or store in the memory that the address lies in; a part of an element is loaded.
template <Touch kind>
inline void count_access(const volatile void* address, std::size_t bytes) {
  const char* at = static_cast<const char*>(const_cast<const void*>(address));
  if (static_cast<std::size_t>(at - scalars.nram) < scalars.nram_bytes) {
    scalars.nram_loads += loads(kind);
    scalars.nram_stores += stores(kind);
  } else if (!on_stack(address)) {
    scalars.gdram_loads += loads(kind);
    scalars.gdram_stores += stores(kind);
    constexpr long long kMember = 4;  // bytes of a class's member: which one it is, nobody tells
    const auto size = static_cast<long long>(bytes);
    scalars.gdram_bytes += (is_part(kind) ? std::min(size, kMember) : size) * (loads(kind) + stores(kind));
  }
}

/// Looks at an access that `spans` do not know to be well; ends the launch if it is not.
void touch(mluops::emu::ScalarTouch how, unsigned slot, const volatile void* base, const volatile void* address,
           std::size_t bytes, const char* name, const char* file, int line);

/// The task at hand has written what lies there, or nobody has; a store makes it the task's.
template <Touch kTouch, unsigned kSlot, class T>
inline bool own(const T* address, int line) {
  constexpr std::size_t kListed = mluops::emu::ScalarSpans::kListed, kUnits = sizeof(T) / 2;
  const auto& block = spans->written[kSlot];
  const std::size_t at = reinterpret_cast<std::size_t>(address) - reinterpret_cast<std::size_t>(block.begin);
  if (sizeof(T) < 2 || at % 2 != 0 || at >= block.bytes || sizeof(T) > block.bytes - at) return false;
  std::uint16_t* writers = block.writers + at / 2;
  bool mine = true, free = true;
  for (std::size_t i = 0; i < kUnits; ++i) {
    mine &= writers[i] == spans->task;
    free &= writers[i] == spans->task || writers[i] == 0;
  }
  if (mine || !free || kTouch == Touch::kUpdate) return mine;
  if (kTouch == Touch::kLoad) return block.defined;
  if (line != block.line || at % kListed + sizeof(T) > kListed || block.listed[at / kListed] != spans->list)
    return false;
  for (std::size_t i = 0; i < kUnits; ++i) writers[i] = spans->task;
  return true;
}

/// What lies there may have been computed from what never was: its bits are those of poison.
template <class T>
inline bool looks_poisoned(const T* address) {
  constexpr unsigned kPoison = 0x7ff17ff1u, kInfinitePoison = 0x7ff27ff2u;
  const void* at = const_cast<const void*>(static_cast<const volatile void*>(address));
  if constexpr (sizeof(T) == 4) {
    unsigned bits;
    __builtin_memcpy(&bits, at, sizeof(bits));
    return bits == kPoison || bits == kInfinitePoison;
  } else if constexpr (sizeof(T) == 2) {
    unsigned short bits;
    __builtin_memcpy(&bits, at, sizeof(bits));
    return bits == (kPoison & 0xffffu) || bits == (kInfinitePoison & 0xffffu);
  } else {
    return false;
  }
}

/// Queued copies of what scalar code has at hand in NRAM are judged by this.
template <Touch kTouch, unsigned kSlot, class T>
inline void in_nram(const T* address, const char* file, int line) {
  if constexpr (!is_part(kTouch)) {
    auto& run = (kTouch == Touch::kLoad ? spans->nram_loads : spans->nram_stores)[kSlot];
    const auto at = reinterpret_cast<std::size_t>(address);
    if (run.end != at) run = {at, at, file, line};
    run.end = at + sizeof(T);
  }
}

/// A load or store of base[...] or *base by scalar code, before it happens.
template <Touch kTouch, unsigned kSlot, class T>
inline void check_access(const T* base, const T* address, const char* name, const char* file, int line) {
  if constexpr (!std::is_array_v<T>) count_access<kTouch>(address, sizeof(T));
  constexpr auto kSeen = is_part(kTouch) ? mluops::emu::ScalarTouch::kPart : mluops::emu::ScalarTouch(kTouch);
  if (!is_part(kTouch) && __builtin_expect(reinterpret_cast<std::size_t>(address) % alignof(T) != 0, 0)) {
    return touch(kSeen, kSlot, base, address, sizeof(T), name, file, line);
  }
  const auto bytes_from = [&](const void* begin) {
    return reinterpret_cast<std::size_t>(address) - reinterpret_cast<std::size_t>(begin);
  };
  if constexpr (kTouch == Touch::kLoad) {
    const auto& known = spans->loads[kSlot];
    if (__builtin_expect(bytes_from(known.begin) < known.bytes, 1)) return;
  }
  if constexpr (kTouch == Touch::kStore) {
    auto& known = spans->stores[kSlot];
    const std::size_t at = bytes_from(known.begin);
    if (__builtin_expect(at <= known.bytes && at + sizeof(T) <= known.room, 1)) {
      if (at + sizeof(T) > known.bytes) known.bytes = at + sizeof(T);
      return;
    }
  }
  if constexpr (kTouch == Touch::kUpdate) {
    const auto& from = spans->loads[kSlot];
    auto& to = spans->stores[kSlot];
    const std::size_t at = bytes_from(to.begin);
    if (bytes_from(from.begin) < from.bytes && at <= to.bytes && at + sizeof(T) <= to.room) {
      if (at + sizeof(T) > to.bytes) to.bytes = at + sizeof(T);
      return;
    }
  }
  if (bytes_from(spans->nram) < spans->nram_bytes) {
    if (loads(kTouch) && !is_part(kTouch) && __builtin_expect(looks_poisoned(address), 0)) {
      touch(kSeen, kSlot, base, address, sizeof(T), name, file, line);
    }
    return in_nram<kTouch, kSlot>(address, file, line);
  }
  if (!is_part(kTouch) && own<kTouch, kSlot>(address, line)) return;
  touch(kSeen, kSlot, base, address, sizeof(T), name, file, line);
}

/// What is looked at: of a class or an array only that it is there.
template <class T, Touch kTouch>
constexpr Touch touch_of() {
  const bool in_parts = std::is_array_v<T> || (std::is_class_v<T> && sizeof(T) > 2);
  if (!in_parts || is_part(kTouch)) return kTouch;
  return kTouch == Touch::kStore ? Touch::kStoredPart : kTouch == Touch::kUpdate ? Touch::kUpdatedPart : Touch::kPart;
}

/// The pointer of base[i] and *base: null of what is none, as a class with an operator[].
template <class T>
constexpr T* pointer_of(T* pointer) {
  return pointer;
}
template <class P, class = std::enable_if_t<!std::is_pointer_v<std::decay_t<P>>>>
constexpr std::nullptr_t pointer_of(const P&) {
  return nullptr;
}

template <Touch kTouch, unsigned kSlot, class T, class I>
constexpr void check_element(T* pointer, I i, const char* name, const char* file, int line) {
  if constexpr (std::is_object_v<T> && (std::is_integral_v<I> || std::is_enum_v<I>)) {
    if (!__builtin_is_constant_evaluated()) {
      check_access<touch_of<T, kTouch>(), kSlot, T>(pointer, pointer + i, name, file, line);
    }
  }
}
template <Touch kTouch, unsigned kSlot, class I>
constexpr void check_element(std::nullptr_t, const I&, const char*, const char*, int) {}

/// The element of an array: nothing to look at if it is an array itself, or a local variable.
template <Touch kTouch, unsigned kSlot, class T, class I>
constexpr void check_in_array(T* array, I i, const char* name, const char* file, int line) {
  if constexpr (!std::is_array_v<T>) {
    if (!__builtin_is_constant_evaluated() && !on_stack(array))
      check_element<kTouch, kSlot>(array, i, name, file, line);
  }
}

/// Stands in the brackets behind the name of a pointer or an array, or behind that of what hides it.
template <Touch kTouch, unsigned kSlot, class P, class I>
constexpr I element(const P& base, const char* name, I i, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  if constexpr (std::is_array_v<P>) {
    check_in_array<kTouch, kSlot>(base, i, name, file, line);
  } else {
    check_element<kTouch, kSlot>(pointer_of(base), i, name, file, line);
  }
  return i;
}

/// What stands before the brackets of any other expression, whose elements are checked.
template <class T, bool kArray, Touch kTouch, unsigned kSlot>
struct Elements {
  T* pointer;
  const char* name;
  const char* file;
  int line;

  template <class I>
  constexpr T& operator[](I i) const {
    if constexpr (kArray) {
      check_in_array<kTouch, kSlot>(pointer, i, name, file, line);
    } else {
      check_element<kTouch, kSlot>(pointer, i, name, file, line);
    }
    return pointer[i];
  }
};
template <class V>
using Whole = std::conditional_t<std::is_lvalue_reference_v<V>, V, std::remove_cv_t<V>>;
template <Touch kTouch, unsigned kSlot, class V>
constexpr Whole<V> object(V&& value, const char* file = __builtin_FILE(), int line = __builtin_LINE());

/// What stands before the brackets of a class: what its operator[] refers to is the element.
template <class P, Touch kTouch, unsigned kSlot>
struct ElementsOfClass {
  P& base;
  const char* file;
  int line;

  template <class I>
  constexpr decltype(auto) operator[](I&& i) const {
    if constexpr (std::is_lvalue_reference_v<decltype(base[static_cast<I&&>(i)])>) {
      return object<kTouch, kSlot>(base[static_cast<I&&>(i)], file, line);
    } else {
      return base[static_cast<I&&>(i)];
    }
  }
};
template <Touch kTouch, unsigned kSlot, class P>
constexpr decltype(auto) elements(P&& base, const char* name = nullptr, const char* file = __builtin_FILE(),
                                  int line = __builtin_LINE()) {
  using Array = std::remove_reference_t<P>;
  using Pointer = decltype(pointer_of(std::declval<std::decay_t<P>>()));  // one that is no longer __restrict__
  using T = std::remove_pointer_t<Pointer>;
  constexpr bool kArray = std::is_array_v<Array>;
  if constexpr (std::is_pointer_v<Pointer> && std::is_object_v<T> && !(kArray && std::is_array_v<T>)) {
    return Elements<T, kArray, kTouch, kSlot>{base, name, file, line};
  } else if constexpr (std::is_class_v<Array> && std::is_lvalue_reference_v<P>) {
    return ElementsOfClass<Array, kTouch, kSlot>{base, file, line};
  } else {
    return static_cast<P&&>(base);
  }
}

/// Stands round what `*` is applied to.
template <Touch kTouch, unsigned kSlot, class T>
constexpr T* pointee(T* pointer, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if constexpr (std::is_object_v<T>) {
    if (!__builtin_is_constant_evaluated()) {
      check_access<touch_of<T, kTouch>(), kSlot>(pointer, pointer, nullptr, file, line);
    }
  }
  return pointer;
}
template <Touch kTouch, unsigned kSlot, class P, class = std::enable_if_t<!std::is_pointer_v<std::decay_t<P>>>>
constexpr P&& pointee(P&& no_pointer) {
  return static_cast<P&&>(no_pointer);
}

/// Stands round the name of an on-chip object that is no array, of a reference, or of another one of that name, and
/// round a call that returns a reference.
template <Touch kTouch, unsigned kSlot, class V>
constexpr Whole<V> object(V&& value, const char* file, int line) {
  using T = std::remove_cv_t<std::remove_reference_t<V>>;
  if constexpr (std::is_lvalue_reference_v<V> && std::is_object_v<T> && !std::is_array_v<T>) {
    if (!__builtin_is_constant_evaluated()) {
      const T* address = const_cast<const T*>(__builtin_addressof(value));
      if (!on_stack(address)) check_access<touch_of<T, kTouch>(), kSlot>(address, address, nullptr, file, line);
    }
  }
  return static_cast<V&&>(value);
}

/// Tells the checks what a kernel's author calls a pointer to device memory.
void name_parameter(const char* name, const void* value, const char* file, int line);

/// Stands at the start of a kernel's body, so many lines below its parameter.
template <class T>
inline void parameter(const char* name, T* value, int lines, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE()) {
  if constexpr (!std::is_function_v<T>) {
    name_parameter(name, const_cast<const void*>(static_cast<const volatile void*>(value)), file, line - lines);
  }
}

/// Where an object is declared.
struct Declared {
  const char* file;
  int line;
};
/// Offset of a new object of the unit. An exception of the emulator when the memory is full.
std::size_t place(Unit& unit, Space space, const char* name, std::size_t bytes, Declared declared);
/// An object in that memory of the running core or its cluster.
char* address_of(Space space, std::size_t offset, std::size_t bytes);
/// Tells the checks that the bytes hold a value.
void written(const void* begin, std::size_t bytes);
/// Has `bytes` from `content` copied to the offset now and at the start of every task.
void refill(const Unit& unit, Space space, std::size_t offset, const void* content, std::size_t bytes);

/// The object declared where `Here`, the type of a lambda, was written.
template <class T, class Here>
std::size_t offset_of(Unit& unit, Space space, const char* name, Here, Declared declared) {
  static const std::size_t offset = place(unit, space, name, sizeof(T), declared);
  return offset;
}

template <class T, class Here>
T& on_chip(Unit& unit, Space space, const char* name, Here here, const char* file = __builtin_FILE(),
           int line = __builtin_LINE()) {
  const std::size_t offset = offset_of<T>(unit, space, name, here, {file, line});
  return *reinterpret_cast<T*>(address_of(space, offset, sizeof(T)));
}

/// An object at function scope, filled each time control comes by.
template <class C, class Here>
auto& on_chip_filled(Unit& unit, Space space, const char* name, Here here, const C& content,
                     const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  using T = std::remove_const_t<C>;
  T& object = on_chip<T>(unit, space, name, here, file, line);
  __builtin_memcpy(&object, &content, sizeof(T));
  written(&object, sizeof(T));
  return object;
}

/// An object at file scope, filled at the start of every task.
template <class C, class Here>
auto& on_chip_refilled(Unit& unit, Space space, const char* name, Here here, const C& content,
                       const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  using T = std::remove_const_t<C>;
  T& object = on_chip<T>(unit, space, name, here, file, line);
  refill(unit, space, offset_of<T>(unit, space, name, here, {file, line}), &content, sizeof(T));
  return object;
}

/// A launch has run for longer than MLUOP_EMU_LIMIT allows.
extern std::atomic<bool> overdue;
/// Ends the launch if this thread runs one of its tasks.
void stop_loop(const char* file, int line);
inline void check_loop(const char* file, int line) {
  if (__builtin_expect(overdue.load(std::memory_order_relaxed), 0)) stop_loop(file, line);
}

/// Stands at the start of every body that computes.
constexpr void count_operations(int n) {
  if (!__builtin_is_constant_evaluated()) scalars.operations += n;
}

/// Stands at the start of every loop's body; counts what its head computes.
constexpr void loop_ends(int operations, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (__builtin_is_constant_evaluated()) return;
  scalars.operations += operations;
  check_loop(file, line);
}

void launch_tasks(const Unit& unit, const char* kernel, cnrtDim3_t dim, cnrtFunctionType_t type, cnrtQueue_t queue,
                  const std::function<void()>& task);

/// kernel<<<dim, type, queue>>>(arguments): they are evaluated now and handed to every task.
template <class Kernel, class... Arguments>
void launch(const Unit& unit, const char* name, cnrtDim3_t dim, cnrtFunctionType_t type, cnrtQueue_t queue,
            Kernel kernel, Arguments... arguments) {
  launch_tasks(unit, name, dim, type, queue, [=] { kernel(arguments...); });
}

/// asm volatile("text" : outputs : inputs): interpreted.
class Mlisa {
 public:
  explicit Mlisa(const char* text) : text_(text) {}

  template <class T>
  Mlisa& operand(const char* name, const char* constraint, T&& value) {
    using V = std::remove_cv_t<std::remove_reference_t<T>>;
    Operand o{name, constraint[0] == '=' || constraint[0] == '+', sizeof(V), nullptr, 0, nullptr};
    if constexpr (std::is_lvalue_reference_v<T&&> && !std::is_const_v<std::remove_reference_t<T>>) o.object = &value;
    if constexpr (std::is_pointer_v<std::decay_t<V>>) {  // an array is the address of its first element
      o.pointer = const_cast<void*>(static_cast<const volatile void*>(value));
    } else if constexpr (std::is_arithmetic_v<V> || std::is_enum_v<V>) {
      o.number = static_cast<double>(value);
    } else if constexpr (std::is_convertible_v<V, float>) {
      o.number = static_cast<double>(static_cast<float>(value));
    }
    operands_.push_back(o);
    return *this;
  }
  void run();

  struct Operand {
    std::string name;
    bool output;
    std::size_t bytes;
    void* pointer;  // of a pointer
    double number;  // of a number
    void* object;   // where an output goes
  };

 private:
  std::string text_;
  std::vector<Operand> operands_;
};

}  // namespace neuware
