// Odd but legal C++, which the host's compiler reads as it is and cncc after rewriting: test/neuware/odd_cpp_test.cpp
// holds both against each other. Compiled twice, so there is no include guard; ODD_CPP names the namespace.
// Its layout is part of what is odd.
// clang-format off
namespace ODD_CPP {

// Every form of a loop's body, and what may stand round it.
__mlu_func__ int bodies(int n) {
  int i = 0, s = 0;
  while (i < 3) i++;
  for (int j = 0; j < n; ++j)
    if (j & 1)
      s += j;
    else
      s -= 1;
  if (n > 2)
    for (int j = 0; j < n; ++j) s += j;
  else
    s = 7;
  if (n > 100)
    while (s > 0)
      if (s & 1) --s;
      else s /= 2;
  else
    s += 1000;
  do
    if (i > 0) i--;
    else i = 0;
  while (i > 0);
  do i++; while (i < 4);
  do for (int j = 0; j < 2; ++j) while (i < 6) i++; while (i < 5);
  for (;;) {
    if (i++ > 8) break;
    else continue;
  }
  for (int x : {1, 2, 3}) for (int y : {x, x}) s += y;
  for (int j = 0; j < 3; ++j) [[likely]] { s++; }
  for (int j = 0; j < 3; ++j) again: if (j == 5) goto again;
  for (int j = 0; j < 2; ++j) { int k = j; for (; k-- > 0;); s += k; }
  while (int left = n - i) { i += left > 0 ? 1 : -1; }
  for (int j = 0; j < 2; ++j) for (int k = 0; k < 2; ++k) if (j) if (k) s += 3; else s += 5;
  return s * 100 + i;
}

__mlu_func__ int duff(int n) {
  int s = 0;
  switch (n & 3) {
    case 0:
      do {
        s += 1; [[fallthrough]];
        case 1: s += 10; [[fallthrough]];
        case 2 ? 2 : 9: s += 100;
      } while (s < 500);
      break;
    default: while (s < 3) switch (s++) case 1: s += 40;
  }
  return s;
}

template <class T, class = std::enable_if_t<(sizeof(T) > 1)>>
[[nodiscard]] __mlu_func__ inline T twice(T x) { return x + x; }
template <> __mlu_func__ int twice<int>(int x) { return x * 2 + 1; }
template <int N, bool kMore = (N > 1)> struct Sum {
  int values[N]{}, total{0};
  __mlu_func__ Sum() : values{N}, total{N >> 1} { for (int& v : values) v += N; for (int v : values) total += v; }
  __mlu_func__ operator int() const noexcept { int t = total; while (t > 1000) t -= 1000; return t; }
  template <class F> __mlu_func__ auto each(F f) -> decltype(f(0)) { int r = 0; for (int v : values) r += f(v); return r; }
};
template <class... T> __mlu_func__ int fold(T... values) { int s = 0; for (int v : {values...}) s = s * 7 + v; return s; }
__attribute__((noinline)) __mlu_func__ auto trailing(int x) -> std::pair<int, int> { return {x, x + 1}; }
static __mlu_func__ constexpr int power(int n) { int p = 1; while (n-- > 0) p *= 3; return p; }
static_assert(power(4) == 81);

__mlu_func__ int templates(int n) {
  auto counted = [&, m = n](auto a) mutable -> int { for (int k = 0; k < 3; ++k) m += a; return m; };
  const auto& [a, b] = trailing(n);
  return Sum<3>() + Sum<(5 > 4)>().each([&](int v) { for (int k = 0; k < 2; ++k) v += n; return v; }) + twice(n) +
         int(twice(2.5)) + counted(2) + fold(1, n, 3) + a * b + power(3);
}

__mlu_func__ int spelling(int n) <%
  int list<:3:> = <%1, 2, n%>, s = 0;
  for (int e : list) s += e;
  if (n > 0 and not (n > 100) or n == -5) s xor_eq 64;
  s += "<:"<:0:> == '<';
  s += int(sizeof(R"odd(while (i < 3) i++; else k<<<1, 2, 3>>>(x) " ' \)odd")) + '"' + u8'\'' + 1'000'000 % 7;
  s += "a" "b" "for (;;)"[2] + (L'x' > 0) + 0x1p4 + .5e+1;
  std::vector<std::vector<std::vector<int>>> deep(1, {{1, 2}});
  for (auto& x : deep) for (auto& y : x) for (int z : y) s += z << 2 >> 1;
  int whi\
le_ = 3, forest = 1, doing = 2; /* a splice \
  in a comment */
  return s + whi\
le_ + forest + doing;
%>

enum Colour { kRed = 3 };
__mlu_func__ int conditionals(int n) {
  const char* text = n > 0 ? 0 : "x";
  const int* pointer = n > 0 ? &n : 0;
  auto letter = n > 0 ? 0 : 'a';
  auto wide = n > 0 ? 1 : 2.5;
  auto colour = n > 0 ? 2 : kRed;
  short narrow = 4;
  auto promoted = n > 0 ? 7 : narrow;
  int nested = n > 0 ? n > 1 ? 5 : n : 6;
  constexpr int kConstant = sizeof(int) == 4 ? 9 : power(2);
  int list[sizeof(int) > 1 ? 4 : power(1)] = {};
  return (text == nullptr) + (pointer == &n) + int(sizeof(letter)) * 10 + int(sizeof(wide)) * 100 +
         int(sizeof(colour)) * 1000 + int(sizeof(promoted)) * 10000 + nested + kConstant + int(sizeof(list)) + colour;
}

struct Stream {
  int value = 0;
  template <class T> __mlu_func__ Stream& operator<<(const T& x) { value = value * 3 + int(x); return *this; }
};
template <class T> __mlu_func__ int operator<<(Stream s, T (*f)(T)) { return f(T(s.value)); }
__mlu_func__ int identity(int x) { return x; }
__mlu_func__ int sum_of_two(int x, int y) { return x + y; }
__mlu_func__ int shifts(int n) {
  Stream s;
  s << n << 2 << (n < 4) << (n << 1 < 9 ? 1 : 2);
  return s.value + operator<<<int>(s, identity);
}

#define ODD_LOOP(count, ...) for (int odd_i = 0; odd_i < (count); ++odd_i) __VA_ARGS__
#define T_OF_P(p) (p)
#define ODD_BLOCK do { n += 2; } while (0)
#define ODD_FUNCTION(name, body) __mlu_func__ int name(int n) { body return n; }
ODD_FUNCTION(from_macro, ODD_LOOP(3, n += odd_i;) if (n) ODD_BLOCK; else n = 1; ODD_LOOP(2, { n++; }))

__mlu_func__ int attempts(int n) try {
  for (int i = 0; i < 3; ++i) try { if (i == 2) throw i; n += i; } catch (int) { n += 100; } catch (...) { n = -1; }
  struct Local { int v; __mlu_func__ int sum() { int s = 0; for (int i = 0; i < v; ++i) s += i; return s; } } local{4};
  union { int a; float b; } u{n};
  return u.a + local.sum();
} catch (...) { return -7; }

__mlu_func__ int expression_statement(int n) {
  const int s = ({ int t = 0; for (int i = 0; i < n; ++i) t += i; t; });
  _Pragma("GCC unroll 4") for (int i = 0; i < 3; ++i) n += s;
#pragma GCC unroll 2
  while (n > 50) n -= 7;
  return n + s;
}

// Every form of a load, a store, a declaration and a product in which a "*" or a "[" may stand.
__mlu_func__ int pointers(int n) {
  int data[8] = {1, 2, 3, 4, 5, 6, 7, 8}, rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
  int *p = data, *q = data + 4, **pp = &p, *a[2] = {data, q};
  int (*row)[3] = rows;
  int (*f)(int) = identity;
  struct Both { int *p; int x : 9; Both *next; } both{data, 3, nullptr}, *at = &both;
  at->next = at;
  int s = 0, *r = p, t = p[1], u[3] = {*p, r[1], t};
  *p = 5; *p++ = 6; *(p + 1) += 2; ++*p; (*p)++; s += (*f)(2) + f(*p) + *u;
  p[0] <<= 1; p[1] >>= 1; p[2] *= *q * p[0]; p[3] |= 8; s = 2 * p[0] * p[1] - -p[2] % 5; ++p[1]; p[1]--;
  s += a[1][0] + pp[0][1] + row[1][2] + (*row)[1] + both.p[2] + at->next->p[1] + **pp + *a[0] + n * p[1];
  s += p[0] > p[1] ? *q : -*q, s -= p[0] >= 2;
  if (n) *q = 3; else *q = 4;
  while (*q < 9) (*q)++;
  for (int *b = data, *e = data + 8; b != e; ++b) s += *b;
  s += int(sizeof *p + sizeof(p[0]) + sizeof(int[3]) + sizeof(int *[2]));
  decltype(p[0]) reference = p[1];
  reference = 9;
  using Two = int[2];
  Two two = {1, 2}; int *z = two;
  s += *&p[1] + *(int *)q + *(z + 1) + *reinterpret_cast<int *>(q) + n * *q + *z * *z;
  auto v = q; v[1] = p[2], v[2] = 7;
  volatile int *w = data; w[3] = w[2]; *w = *w + 1; *const_cast<int *>(w) += 1;
  at->x = both.p[0]; both.p[1]++; (*at).x += 2; at[0].x -= 1; at->p[2] = at->x; (*at->next).p[0]++;
  static constexpr int kTable[] = {1, 2}; constexpr const int *k = kTable; static_assert(k[1] == 2 && *k == 1);
  std::vector<int> many(3, n); auto it = many.begin(); *it = 4; s += *it + it[1];
  const auto change = [&](int *x, int &y) { *x += 1; y = x[1]; return x; };
  *change(p, data[7]) += *[&] { return q; }();
  T_OF_P(p)[1] += sum_of_two(*p, p[1]) + int(*p == *q) + (*p & 3) + (3 & p[1]);
  for (int i = 0; i < 8; ++i) s = s * 3 + data[i];
  return s + *(n > 0 ? p : q) + both.x;
}

using Function = int (*)(int);
inline constexpr Function kAll[] = {bodies,      duff,   templates,  spelling, conditionals,
                                    shifts,      from_macro, attempts, expression_statement, pointers};

}  // namespace ODD_CPP
// clang-format on
