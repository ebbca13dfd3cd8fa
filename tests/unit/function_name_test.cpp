// Names of functions as compilers write them, and as reports show them.
#include "cli/function_name.h"

#include <gtest/gtest.h>

namespace belay::cli {
namespace function_name_test {

TEST(FunctionName, ANameOfCStaysAsItIs) {
  EXPECT_EQ(function_name("main"), "main");
  EXPECT_EQ(function_name("aclrtMalloc"), "aclrtMalloc");
  EXPECT_EQ(function_name("main.main"), "main.main");  // Go writes packages so
  EXPECT_EQ(function_name(""), "");
}

TEST(FunctionName, PartsAndCopiesOfAFunctionHaveItsName) {
  EXPECT_EQ(function_name("work.constprop.0"), "work");
  EXPECT_EQ(function_name("work.isra.0.cold"), "work");
  EXPECT_EQ(function_name("_ZN2ns4workEi.part.0"), "ns::work");
  EXPECT_EQ(function_name("_ZN2ns4workEi.cold"), "ns::work");
}

TEST(FunctionName, WhatIsNoMangledNameStaysAsItIs) {
  EXPECT_EQ(function_name("_Z"), "_Z");
  EXPECT_EQ(function_name("_Znonsense"), "_Znonsense");
  EXPECT_EQ(function_name("_ZN2ns4workE"), "ns::work");
}

TEST(FunctionName, ArgumentsAndWhatIsReturnedAreLeftOut) {
  EXPECT_EQ(without_arguments("ns::Class::method(int, char const*) const"), "ns::Class::method");
  EXPECT_EQ(without_arguments("ns::Class::method() &&"), "ns::Class::method");
  EXPECT_EQ(without_arguments("unsigned long ns::largest<int, char>(int, char)"), "ns::largest<int, char>");
  EXPECT_EQ(without_arguments("std::vector<int>::type f<int>(void (*)(int))"), "f<int>");
  EXPECT_EQ(without_arguments("decltype (declval<int>()+(1)) add<int>(int)"), "add<int>");
  EXPECT_EQ(without_arguments("non-virtual thunk to D::run()"), "D::run");
  EXPECT_EQ(without_arguments("text[abi:cxx11](int)"), "text[abi:cxx11]");
  EXPECT_EQ(without_arguments("(anonymous namespace)::hidden((anonymous namespace)::A)"),
            "(anonymous namespace)::hidden");
}

TEST(FunctionName, SignsOfOperatorsAreNoBrackets) {
  for (const char* name :
       {"operator()", "operator[]", "operator<", "operator<<", "operator<=>", "operator->", "operator->*",
        "operator>>=", "operator,", "operator new", "operator new[]", "operator delete[]", "operator bool",
        "operator unsigned long", "operator std::vector<int>", "operator\"\" _km"}) {
    EXPECT_EQ(without_arguments(std::string{"A::"} + name + "(A const&) const"), std::string{"A::"} + name);
  }
  EXPECT_EQ(without_arguments("bool operator< <int>(A<int>, A<int>)"), "operator< <int>");
  EXPECT_EQ(without_arguments("bool A::operator==<int>(int) const"), "A::operator==<int>");
  EXPECT_EQ(without_arguments("void apply<&A::operator()>(A)"), "apply<&A::operator()>");
  EXPECT_EQ(without_arguments("void apply<&A::operator< >(A)"), "apply<&A::operator< >");
  EXPECT_EQ(without_arguments("my_operator(int)"), "my_operator");
  EXPECT_EQ(without_arguments("operators(int)"), "operators");
}

TEST(FunctionName, WhatStandsInsideAFunctionKeepsItsName) {
  EXPECT_EQ(without_arguments("run(int)::{lambda(int, char)#2}::operator()(int, char) const"),
            "run::{lambda#2}::operator()");
  EXPECT_EQ(without_arguments("auto run(int)::{lambda(auto:1)#1}::operator()<int>(int) const"),
            "run::{lambda#1}::operator()<int>");
  EXPECT_EQ(without_arguments("A::run() const::Local::go()"), "A::run::Local::go");
  EXPECT_EQ(without_arguments("main::{lambda}::operator()"), "main::{lambda}::operator()");
}

TEST(FunctionName, TemplateArgumentsAreKeptUpTo80Characters) {
  const std::string fits(78, 'x'), long_one(79, 'x');
  EXPECT_EQ(without_arguments("f<" + fits + ">(int)"), "f<" + fits + ">");
  EXPECT_EQ(without_arguments("f<" + long_one + ">(int)"), "f<...>");
  EXPECT_EQ(without_arguments("f<int, A<char, B>, " + long_one + ">::g<int>()"),
            "f<int, A<char, B>, ...>::g<int>");
  EXPECT_EQ(without_arguments("f<(Kind)1, ((2)>(1)), " + long_one + ">()"), "f<(Kind)1, ((2)>(1)), ...>");
  EXPECT_EQ(without_arguments("f<A<" + long_one + ", int>, int>()"), "f<...>");
}

TEST(FunctionName, AStringIsCalledString) {
  EXPECT_EQ(function_name("_ZN1AINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEE3runEv"),
            "A<std::string>::run");
  EXPECT_EQ(function_name("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc"),
            "std::string::append");
}

TEST(FunctionName, WhatCannotBeTakenApartStaysAsItIs) {
  for (const char* name :
       {"void (*choose<int>(int))(char)", "broken(int", "broken<int", "broken)", "f(int)what",
        "f(int) requires true", "{lambda(", "f<(>", "operator", "", "(", "<", "f<A<B>"}) {
    EXPECT_EQ(without_arguments(name), name);
  }
}

}  // namespace function_name_test
}  // namespace belay::cli
