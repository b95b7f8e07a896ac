#include "test/calls/suite.h"

#include <map>

namespace mluops::test {
namespace {

std::vector<CallVariant> variants_of(const std::string& op, const std::vector<const char*>& texts) {
  std::vector<CallVariant> all;
  for (const char* text : texts) {
    const Case c = Case::parse(op + " " + text);
    for (const mluOpDataType_t dtype : float_dtypes()) {
      all.push_back({c, dtype, false});
      if (scatters(op)) all.push_back({c, dtype, true});
    }
  }
  return all;
}

std::string family(const std::string& op) {
  return op.substr(0, op.rfind('_'));
}

}  // namespace

bool scatters(const std::string& op) {
  return op.ends_with("_backward") && !op.starts_with("psamask");
}

std::vector<CallVariant> small_calls(const std::string& op) {
  static const std::map<std::string, std::vector<const char*>> texts = {
      {"carafe", {"n=1 h=1 w=1 c=1 k=1 g=1 s=1", "n=1 h=2 w=3 c=5 k=3 g=1 s=2"}},
      {"psamask", {"n=1 h=1 w=1 hm=1 wm=1 type=0", "n=1 h=3 w=2 hm=3 wm=2 type=0", "n=1 h=3 w=2 hm=3 wm=2 type=1"}},
      {"three_interpolate", {"b=1 c=1 m=1 n=1", "b=2 c=5 m=7 n=9"}},
      {"deform_roi_pool",
       {"b=1 h=1 w=1 c=1 r=1 ph=1 pw=1 ratio=1 offset=0", "b=1 h=4 w=3 c=5 r=2 ph=2 pw=2 ratio=0 offset=1"}},
      {"border_align", {"n=1 h=1 w=1 c=1 k=1 p=1", "n=1 h=4 w=3 c=5 k=3 p=2"}}};
  return variants_of(op, texts.at(family(op)));
}

std::vector<CallVariant> large_calls(const std::string& op) {
  static const std::map<std::string, std::vector<const char*>> texts = {
      {"carafe", {"n=2 h=24 w=20 c=64 k=5 g=1 s=2", "n=1 h=17 w=70 c=48 k=3 g=2 s=3"}},
      {"psamask",
       {"n=1 h=24 w=24 hm=47 wm=47 type=0", "n=1 h=24 w=24 hm=47 wm=47 type=1", "n=2 h=40 w=40 hm=30 wm=30 type=0",
        "n=2 h=40 w=40 hm=30 wm=30 type=1"}},
      {"three_interpolate",
       {"b=4 c=64 m=128 n=4000", "b=2 c=272 m=16 n=3000", "b=1 c=544 m=100 n=2000", "b=3 c=1 m=20000 n=40000",
        "b=1 c=7 m=100 n=30000"}},
      {"deform_roi_pool",
       {"b=1 h=40 w=50 c=64 r=24 ph=7 pw=7 ratio=2 offset=1", "b=2 h=60 w=50 c=96 r=40 ph=5 pw=5 ratio=0 offset=0",
        "b=1 h=12 w=10 c=32 r=30 ph=7 pw=7 ratio=0 offset=1"}},
      {"border_align", {"n=1 h=25 w=30 c=64 k=200 p=10", "n=2 h=20 w=16 c=33 k=300 p=4"}}};
  return variants_of(op, texts.at(family(op)));
}

std::unique_ptr<Handle> make_handle(const CallVariant& v, int threads) {
  auto handle =
      std::make_unique<Handle>("cpu", threads, std::vector<std::string>{v.atomic ? "scatter=atomic" : "scatter=owner"});
  handle->contract(MLUOP_EXT_CONTRACT_EXTENDED);
  handle->atomics(v.atomic ? MLUOP_ATOMICS_ALLOWED : MLUOP_ATOMICS_NOT_ALLOWED);
  return handle;
}

std::int64_t working_bytes(const Handle& handle) {
  char text[32] = "";
  EXPECT_EQ(mluOpExtQuery(handle.get(), "cpu", "scratch_bytes", text, sizeof text, nullptr), MLUOP_STATUS_SUCCESS);
  return std::stoll(text);
}

}  // namespace mluops::test
