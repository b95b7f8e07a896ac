// The registry itself: which plugins join, which are left out and why.
#include "common/registry.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>

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
  expect_left_out(plugin("version_1"), "its plugin ABI is version 1, this library's is 2");
}
TEST(Registry, WrongStructSize) {
  expect_left_out(plugin("wrong_size"), "its struct has 8 bytes");
}
TEST(Registry, MembersAnOlderPluginLacksAreNull) {
  const Registry registry = with(plugin("older"));
  const mluopsBackend* const older = registry.find("older");
  ASSERT_NE(older, nullptr) << registry.known_text();
  EXPECT_NE(older->psamask_forward, nullptr);
  const std::size_t known = offsetof(mluopsBackend, three_interpolate_forward);
#define MLUOPS_OPERATOR(name, Problem) EXPECT_TRUE(offsetof(mluopsBackend, name) < known || older->name == nullptr);
#include "mluops/operators.inc"
}
/// It would take boxes of 7 numbers for boxes of 4.
TEST(Registry, AnOlderPluginIsNotAskedForNms) {
  const Registry registry = with(plugin("takes_flat_boxes"));
  const mluopsBackend* const older = registry.find("takes_flat_boxes");
  ASSERT_NE(older, nullptr) << registry.known_text();
  EXPECT_EQ(older->nms, nullptr);
  EXPECT_EQ(older->upfirdn2d, nullptr);
  EXPECT_NE(older->soft_nms, nullptr);
  EXPECT_NE(older->fft, nullptr);
  EXPECT_NE(with(plugin("takes_nhwc")).find("takes_nhwc")->nms, nullptr);
}
TEST(Registry, ANewerPluginJoins) {
  const Registry registry = with(plugin("newer"));
  ASSERT_NE(registry.find("newer"), nullptr) << registry.known_text();
  EXPECT_NE(registry.find("newer")->psamask_forward, nullptr);
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

/// A folder of the test's own with a copy of the good plugin in it.
class PluginFile : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/mluops_plugin_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    std::filesystem::copy_file(plugin("mine"), path());
    std::filesystem::permissions(path(), std::filesystem::perms(0755));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return folder_ + "/mine.so"; }
  void folder_mode(mode_t mode) const { ASSERT_EQ(chmod(folder_.c_str(), mode), 0); }
  void file_mode(mode_t mode) const { ASSERT_EQ(chmod(path().c_str(), mode), 0); }

  std::string folder_;
};

TEST_F(PluginFile, ThatOnlyItsOwnerMayWriteJoins) {
  EXPECT_NE(with(path()).find("mine"), nullptr);
}
TEST_F(PluginFile, ThatEverybodyMayWriteIsLeftOut) {
  file_mode(0777);
  expect_left_out(path(), "everybody may write to the file");
}
TEST_F(PluginFile, InAFolderThatEverybodyMayWriteIsLeftOut) {
  folder_mode(0777);
  expect_left_out(path(), "everybody may write to folder " + folder_);
  folder_mode(01777);  // as /tmp: only owners may replace what is there
  EXPECT_NE(with(path()).find("mine"), nullptr);
}
TEST_F(PluginFile, BelowAFolderThatEverybodyMayWriteIsLeftOut) {
  std::filesystem::create_directory(folder_ + "/inner");
  std::filesystem::rename(path(), folder_ + "/inner/mine.so");
  folder_mode(0777);
  expect_left_out(folder_ + "/inner/mine.so", "everybody may write to folder " + folder_);
}
TEST_F(PluginFile, IsJudgedByWhereALinkLeads) {
  const std::string link = folder_ + "/link.so";
  std::filesystem::create_symlink(path(), link);
  EXPECT_NE(with(link).find("mine"), nullptr);
  file_mode(0777);
  expect_left_out(link, "everybody may write to the file");
}
TEST_F(PluginFile, ThatIsNoFileIsLeftOutWithoutAWait) {
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_left_out(pipe, "is no regular file");
  expect_left_out("/dev/zero", "is no regular file");
  expect_left_out(folder_, "is no regular file");
}

}  // namespace
}  // namespace mluops
