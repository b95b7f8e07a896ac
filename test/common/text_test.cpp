#include "common/text.h"

#include <gtest/gtest.h>

namespace {

using namespace mluops;  // NOLINT: the words under test

TEST(Text, ControlCharactersDoNotReachATerminal) {
  EXPECT_EQ(printable("a b~"), "a b~");
  EXPECT_EQ(printable("\x1b[2Jx\r\n\t"), "\\x1b[2Jx\\x0d\\x0a\\x09");
  EXPECT_EQ(printable(std::string("a\0b\x7f", 4)), "a\\x00b\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J")
      << "CSI in 8 bits";
  EXPECT_EQ(printable("\xc3\xa9\xe5\xad\x97\xf0\x9f\x98\x80"), "\xc3\xa9\xe5\xad\x97\xf0\x9f\x98\x80");
}

TEST(Text, BytesThatAreNoUtf8) {
  const char* const bad[] = {
      "\x80",         "\xff",         "\xc3",     "\xc0\xaf",         "\xc1\xbf",        "\xe0\x80\xaf",
      "\xed\xa0\x80", "\xf0\x80\x80", "\xe5\xad", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80"};
  for (const char* const text : bad) {
    EXPECT_EQ(utf8_length(text), 0u) << printable(text);
    EXPECT_EQ(printable(text).substr(0, 2), "\\x");
    EXPECT_EQ(json_escaped(text).substr(0, 3), "\xef\xbf\xbd");
  }
  EXPECT_EQ(utf8_length(""), 0u);
  EXPECT_EQ(utf8_length("\xed\x9f\xbf"), 3u);
  EXPECT_EQ(utf8_length("\xf4\x8f\xbf\xbf"), 4u);
}

TEST(Text, JsonStrings) {
  EXPECT_EQ(json_escaped("a\"b\\c\n\x1f"), "a\\\"b\\\\c\\u000a\\u001f");
  EXPECT_EQ(json_escaped("\xe9t\xe9"), "\xef\xbf\xbdt\xef\xbf\xbd") << "Latin-1";
  EXPECT_EQ(json_escaped("\xc3\xa9"), "\xc3\xa9");
}

TEST(Text, PathsAsUris) {
  EXPECT_EQ(uri_of_path("/a/b-c_d.e~f/g1.mlu"), "/a/b-c_d.e~f/g1.mlu");
  EXPECT_EQ(uri_of_path("a b#c?d%e:f\xc3\xa9\xff"), "a%20b%23c%3fd%25e%3af%c3%a9%ff");
}

}  // namespace
