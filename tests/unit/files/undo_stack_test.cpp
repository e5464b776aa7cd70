// SPDX-License-Identifier: Apache-2.0
#include "server/editor/undo_stack.h"

#include <doctest/doctest.h>

using namespace rookery::server;

TEST_CASE("each file has its own newest edit") {
  UndoStack stack;
  const FilePlace a{1, 2, "a"};
  const FilePlace b{1, 3, "a"};
  stack.push(a, "a1");
  stack.push(b, "b1");
  stack.push(a, "a2");
  REQUIRE(stack.newest(a) != nullptr);
  CHECK(*stack.newest(a) == "a2");
  stack.drop_newest(a);
  CHECK(*stack.newest(a) == "a1");
  stack.drop_newest(a);
  CHECK(stack.newest(a) == nullptr);
  stack.drop_newest(a);
  CHECK(*stack.newest(b) == "b1");
  CHECK(stack.bytes() == 2);
}

TEST_CASE("the oldest edits go when there are too many or they are too large") {
  UndoStack stack;
  for (int i = 0; i < 150; ++i) stack.push({0, 0, std::to_string(i)}, "x");
  CHECK(stack.edits() == UndoStack::kMaxEdits);
  CHECK(stack.newest({0, 0, "49"}) == nullptr);
  CHECK(stack.newest({0, 0, "50"}) != nullptr);
  for (int i = 0; i < 5; ++i) stack.push({0, 1, std::to_string(i)}, std::string(4 << 20, 'x'));
  CHECK(stack.bytes() <= UndoStack::kMaxBytes);
  CHECK(stack.edits() == 4);
  stack.push({0, 2, "whole"}, std::string(UndoStack::kMaxBytes, 'x'));
  CHECK(stack.edits() == 1);
}
