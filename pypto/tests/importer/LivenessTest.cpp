//===- LivenessTest.cpp - which names are used later ----------------------===//
#include "Liveness.h"
#include <gtest/gtest.h>

using namespace pypto::importer;
using pypto::ast::Node;

namespace {

std::unique_ptr<Node> node(const char *kind) {
  auto n = std::make_unique<Node>();
  n->kind = kind;
  return n;
}
std::unique_ptr<Node> name(const char *id) {
  auto n = node("Name");
  n->text["id"] = id;
  return n;
}
std::unique_ptr<Node> assign(const char *target, const char *value) {
  auto n = node("Assign");
  n->children["targets"].push_back(name(target));
  n->child["value"] = name(value);
  return n;
}
std::unique_ptr<Node> returns(const char *value) {
  auto n = node("Return");
  n->child["value"] = name(value);
  return n;
}

TEST(Liveness, AssignmentKills) {
  auto f = node("FunctionDef");
  auto &body = f->children["body"];
  body.push_back(assign("a", "x"));
  body.push_back(assign("a", "y"));
  body.push_back(returns("a"));
  Liveness live(*f, {});
  EXPECT_EQ(live.after(*body[0]), (Names{"y"}));
  EXPECT_EQ(live.after(*body[1]), (Names{"a"}));
}

TEST(Liveness, LoopCarriesWhatTheNextIterationReads) {
  auto f = node("FunctionDef");
  auto loop = node("For");
  loop->child["target"] = name("i");
  loop->child["iter"] = name("r");
  loop->children["body"].push_back(assign("t", "x")); // temporary
  loop->children["body"].push_back(assign("b", "a"));
  loop->children["body"].push_back(assign("a", "t"));
  auto &body = f->children["body"];
  body.push_back(std::move(loop));
  body.push_back(returns("b"));
  Liveness live(*f, {});
  EXPECT_EQ(live.atLoopHead(*body[0]), (Names{"a", "b", "x"}));
  EXPECT_EQ(live.after(*body[0]), (Names{"b"}));
}

TEST(Liveness, BreakLeavesWithWhatIsReadBehindTheLoop) {
  auto f = node("FunctionDef");
  auto loop = node("While");
  loop->child["test"] = name("c");
  auto branch = node("If");
  branch->child["test"] = name("d");
  branch->children["body"].push_back(node("Break"));
  loop->children["body"].push_back(std::move(branch));
  loop->children["body"].push_back(assign("a", "x"));
  auto &body = f->children["body"];
  body.push_back(std::move(loop));
  body.push_back(returns("a"));
  Liveness live(*f, {});
  const Node &test = *body[0]->children["body"][0];
  EXPECT_TRUE(live.after(*test.children.at("body")[0]).count("a"));
  EXPECT_TRUE(live.atLoopHead(*body[0]).count("a"));
}

TEST(Liveness, WhatIsReadBehindTheLoopSurvivesStatementsAfterABreak) {
  auto f = node("FunctionDef");
  auto loop = node("While");
  loop->child["test"] = name("c");
  auto branch = node("If");
  branch->child["test"] = name("d");
  branch->children["body"].push_back(assign("a", "x"));
  branch->children["body"].push_back(node("Break"));
  loop->children["body"].push_back(std::move(branch));
  loop->children["body"].push_back(assign("a", "y")); // kills a on the other path only
  auto &body = f->children["body"];
  body.push_back(std::move(loop));
  body.push_back(returns("a"));
  Liveness live(*f, {});
  const Node &test = *body[0]->children["body"][0];
  EXPECT_TRUE(live.after(test).count("a"));
  EXPECT_TRUE(live.after(*test.children.at("body")[0]).count("a"));
}

TEST(Liveness, ParametersOfInlineFunctionsLiveOn) {
  auto f = node("FunctionDef");
  auto &body = f->children["body"];
  body.push_back(assign("p", "x"));
  EXPECT_EQ(Liveness(*f, {"p"}).after(*body[0]), (Names{"p"}));
  EXPECT_TRUE(Liveness(*f, {}).after(*body[0]).empty());
}

TEST(Assigned, CallsMayWriteTheirArguments) {
  auto call = node("Call");
  call->child["func"] = name("helper");
  call->children["args"].push_back(name("t"));
  auto statement = node("Expr");
  statement->child["value"] = std::move(call);
  Assigned names;
  namesAssigned(*statement, names);
  EXPECT_TRUE(names.strong.empty());
  EXPECT_EQ(names.weak, (Names{"t"}));
}

} // namespace
