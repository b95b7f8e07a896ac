// The registry itself: which plugins join, which are left out and why.
#include "common/registry.h"

#include <gtest/gtest.h>

namespace mluops {
namespace {

std::string plugin(const std::string& name) {
  return std::string(PLUGIN_DIR) + "/plugin_" + name + ".so";
}

Registry with(const std::string& paths) {
  return Registry(builtin_backends(), paths);
}

/// The plugin is left out, and the only problem says why.
void expect_left_out(const std::string& path, const std::string& why) {
  const Registry registry = with(path);
  EXPECT_EQ(registry.backends().size(), builtin_backends().size());
  ASSERT_EQ(registry.problems().size(), 1u);
  EXPECT_NE(registry.problems()[0].find(why), std::string::npos) << registry.problems()[0];
  EXPECT_NE(registry.known_text().find(path), std::string::npos) << "error texts name the plugin";
}

TEST(Registry, BuiltInBackends) {
  const Registry registry = with("");
  ASSERT_GE(registry.backends().size(), 2u);
  EXPECT_STREQ(registry.backends()[0]->name, "cpu");
  EXPECT_NE(registry.find("mlu_emu"), nullptr);
  EXPECT_EQ(registry.find("cpu2"), nullptr);
  EXPECT_EQ(registry.find(""), nullptr);
  EXPECT_TRUE(registry.problems().empty());
}

TEST(Registry, AGoodPluginJoins) {
  const Registry registry = with(plugin("mine"));
  ASSERT_NE(registry.find("mine"), nullptr);
  EXPECT_EQ(registry.find("mine")->carafe_forward, nullptr);
  EXPECT_TRUE(registry.problems().empty());
}

TEST(Registry, WrongAbiVersion) {
  expect_left_out(plugin("wrong_abi"), "its plugin ABI is version 99");
}
TEST(Registry, WrongStructSize) {
  expect_left_out(plugin("wrong_size"), "its struct has 8 bytes");
}
TEST(Registry, MissingSymbol) {
  expect_left_out(plugin("no_symbol"), "exports no symbol mluops_backend");
}
TEST(Registry, NameOfABuiltIn) {
  expect_left_out(plugin("takes_cpu"), "\"cpu\" is taken");
}
TEST(Registry, NameOfBadForm) {
  expect_left_out(plugin("bad_name"), "[a-z0-9_]+");
}
TEST(Registry, RelativePath) {
  expect_left_out("plugin_mine.so", "absolute paths only");
}
TEST(Registry, MissingFile) {
  expect_left_out("/nowhere/plugin.so", "/nowhere/plugin.so");
}

TEST(Registry, TheSamePluginTwiceJoinsOnce) {
  const Registry registry = with(plugin("mine") + ":" + plugin("mine"));
  EXPECT_EQ(registry.backends().size(), builtin_backends().size() + 1);
  ASSERT_EQ(registry.problems().size(), 1u);
  EXPECT_NE(registry.problems()[0].find("\"mine\" is taken"), std::string::npos);
}

TEST(Registry, ABadPluginDoesNotKeepAGoodOneOut) {
  const Registry registry = with("::" + plugin("wrong_abi") + ":" + plugin("mine") + ":");
  EXPECT_NE(registry.find("mine"), nullptr);
  EXPECT_EQ(registry.problems().size(), 1u);
}

}  // namespace
}  // namespace mluops
