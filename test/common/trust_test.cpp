// What may run and what is written where. The rules of plugins' files are in test/registry too.
#include "common/trust.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

using namespace mluops;  // NOLINT: the words under test

namespace fs = std::filesystem;

constexpr uid_t kAnother = 4242;

class Trust : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (fs::temp_directory_path() / "mluops_trust.XXXXXX").string();
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  static void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }
  static std::string text_of(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static std::string write(OutputFile file, const std::string& text) {
    file.write(text);
    return file.close();
  }

  std::string folder_;
};

TEST_F(Trust, AFileOfAnotherUserIsNotRun) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  put(path("code"), "x");
  EXPECT_EQ(why_not_trusted(path("code")), "");
  ASSERT_EQ(chown(path("code").c_str(), kAnother, kAnother), 0);
  EXPECT_EQ(why_not_trusted(path("code")), "the file belongs to another user");
}

TEST_F(Trust, NorAFileBelowAFolderOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
  fs::create_directories(path("theirs/inner"));
  put(path("theirs/inner/code"), "x");
  ASSERT_EQ(chown(path("theirs").c_str(), kAnother, kAnother), 0);
  EXPECT_EQ(why_not_trusted(path("theirs/inner/code")), "folder " + path("theirs") + " belongs to another user");
}

TEST_F(Trust, ANewFileNeverFollowsALink) {
  put(path("precious"), "kept");
  fs::create_symlink(path("precious"), path("foreseen"));
  EXPECT_EQ(write(OutputFile::made_new(path("foreseen")), "new"), "");
  EXPECT_EQ(text_of(path("precious")), "kept");
  EXPECT_FALSE(fs::is_symlink(path("foreseen")));
  EXPECT_EQ(text_of(path("foreseen")), "new");
  fs::create_symlink(path("nowhere"), path("dangling"));
  EXPECT_EQ(write(OutputFile::made_new(path("dangling")), "new"), "");
  EXPECT_FALSE(fs::exists(path("nowhere")));
  put(path("old"), "longer than new");
  fs::create_hard_link(path("old"), path("other_name"));
  EXPECT_EQ(write(OutputFile::made_new(path("old")), "new"), "");
  EXPECT_EQ(text_of(path("other_name")), "longer than new") << "a hard link is another name of the old file";
}

TEST_F(Trust, ANamedFileFollowsTheUsersOwnLinksAlone) {
  fs::create_symlink(path("target"), path("link"));
  EXPECT_EQ(write(OutputFile::named(path("link")), "one"), "");
  EXPECT_EQ(text_of(path("target")), "one");
  EXPECT_EQ(write(OutputFile::named(path("target")), "1"), "") << "truncates";
  EXPECT_EQ(text_of(path("target")), "1");
  if (geteuid() != 0) GTEST_SKIP() << "only root can give links away";
  ASSERT_EQ(lchown(path("link").c_str(), kAnother, kAnother), 0);
  EXPECT_EQ(write(OutputFile::named(path("link")), "two"), "a symbolic link of another user");
  EXPECT_EQ(text_of(path("target")), "1");
}

TEST_F(Trust, WhatCannotBeWrittenSaysWhy) {
  EXPECT_NE(write(OutputFile::made_new(path("absent/file")), "x").find("No such file"), std::string::npos);
  EXPECT_NE(write(OutputFile::named(folder_), "x"), "");
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  EXPECT_NE(write(OutputFile::named("/dev/full"), "x").find("No space"), std::string::npos);
}

}  // namespace
