// Callbacks of aclInit and aclFinalize that call both again, wait for threads that do, or change the lists.
#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "support/captured_process.h"
#include "support/device_fixture.h"
#include "support/waiting.h"

namespace lifecycle_callback_test {

using namespace belay_test;

using Body = std::function<aclError()>;

aclError call_init(const char*, std::size_t, void* body) { return (*static_cast<Body*>(body))(); }
aclError call_end(void* body) { return (*static_cast<Body*>(body))(); }
aclError call_init_too(const char* text, std::size_t length, void* body) {
  return call_init(text, length, body);
}
aclError call_end_too(void* body) { return call_end(body); }

void on_init(Body& body, aclInitCallbackFunc function = call_init,
             aclRegisterCallbackType type = ACL_REG_TYPE_OTHER) {
  EXPECT_EQ(aclInitCallbackRegister(type, function, &body), ACL_SUCCESS);
}
void on_end(Body& body, aclFinalizeCallbackFunc function = call_end,
            aclRegisterCallbackType type = ACL_REG_TYPE_OTHER) {
  EXPECT_EQ(aclFinalizeCallbackRegister(type, function, &body), ACL_SUCCESS);
}

// In a process of its own, which starts afresh; one that hangs fails the test.
void in_limited_process(const std::function<void()>& body) {
  const Ending ending = run_captured(body);
  EXPECT_TRUE(ending.clean()) << ending;
}

// What a call answers on another thread, which the caller waits for: for ever, if the call does.
template <class Call>
aclError on_another_thread(Call&& call) {
  aclError answer = -1;
  std::thread([&] { answer = call(); }).join();
  return answer;
}

std::uint64_t count_after_one_more() {
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  std::uint64_t count = 0;
  EXPECT_EQ(aclFinalizeReference(&count), ACL_SUCCESS);
  return count;
}

// --- a callback that calls the same again ---------------------------------------------------------

TEST(LifecycleCallback, R268_FinalizeFromInsideAFinalizeCallback) {
  in_limited_process([] {
    int calls = 0;
    Body body = [&calls]() -> aclError {
      ++calls;
      EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
      std::uint64_t count = 99;
      EXPECT_EQ(aclFinalizeReference(&count), ACL_ERROR_REPEAT_FINALIZE);
      EXPECT_EQ(count, 2U) << "as long as the callbacks run, the count is what it was (R-40)";
      EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE);
      return ACL_SUCCESS;
    };
    on_end(body);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  });
}

TEST(LifecycleCallback, R268_R38_FinalizeFromInsideTheLastReference) {
  in_limited_process([] {
    int calls = 0;
    Body body = [&calls]() -> aclError {
      ++calls;
      EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE);
      EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
      return ACL_SUCCESS;
    };
    on_end(body);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    std::uint64_t count = 99;
    EXPECT_EQ(aclFinalizeReference(&count), ACL_SUCCESS);
    EXPECT_EQ(count, 0U);
    EXPECT_EQ(calls, 1);
  });
}

TEST(LifecycleCallback, R268_R37_FinalizeBeforeAnyInitFromInsideItself) {
  in_limited_process([] {
    int calls = 0;
    Body body = [&calls] {
      ++calls;
      EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
      return aclError{ACL_SUCCESS};
    };
    on_end(body);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(calls, 1);
  });
}

TEST(LifecycleCallback, R267_R268_EachFromInsideTheOther) {
  in_limited_process([] {
    Body begins = [] {
      EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE) << "nothing is initialised yet";
      EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE);
      EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
      return aclError{ACL_SUCCESS};
    };
    Body ends = [] {
      EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
      return aclError{ACL_SUCCESS};
    };
    on_init(begins);
    on_end(ends);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
      EXPECT_EQ(count_after_one_more(), 1U) << "what callbacks called is not counted";
      EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
      EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE);
    }
  });
}

// --- a callback that waits for another thread -----------------------------------------------------

TEST(LifecycleCallback, R267_R24_AnInitCallbackThatWaitsForAThreadThatInitialises) {
  in_limited_process([] {
    Body body = [] {
      EXPECT_EQ(on_another_thread([] { return aclInit(nullptr); }), ACL_ERROR_REPEAT_INITIALIZE);
      return aclError{ACL_SUCCESS};
    };
    on_init(body);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(count_after_one_more(), 2U) << "the call of the other thread is a further one";
    EXPECT_EQ(aclFinalizeReference(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclFinalizeReference(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE);
  });
}

TEST(LifecycleCallback, R267_R38_WhatTheOtherThreadCountedItTakesBack) {
  in_limited_process([] {
    Body body = [] {
      std::thread([] {
        std::uint64_t count = 99;
        EXPECT_EQ(aclFinalizeReference(&count), ACL_ERROR_REPEAT_FINALIZE);
        EXPECT_EQ(count, 0U);
        EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
        EXPECT_EQ(aclFinalizeReference(&count), ACL_SUCCESS);
        EXPECT_EQ(count, 1U);
        EXPECT_EQ(aclFinalizeReference(&count), ACL_ERROR_REPEAT_FINALIZE);
        EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
      }).join();
      return aclError{ACL_SUCCESS};
    };
    on_init(body);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(count_after_one_more(), 1U);
  });
}

TEST(LifecycleCallback, R267_R31_ACallbackThatFailsLeavesNoCount) {
  in_limited_process([] {
    Body body = [] {
      EXPECT_EQ(on_another_thread([] { return aclInit(nullptr); }), ACL_ERROR_REPEAT_INITIALIZE);
      return aclError{424242};
    };
    on_init(body);
    EXPECT_EQ(aclInit(nullptr), 424242);
    EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT_EQ(aclInit(nullptr), 424242) << "and it may be tried again";
  });
}

TEST(LifecycleCallback, R267_R268_AFinalizeCallbackThatWaitsForAThreadThatCallsEither) {
  in_limited_process([] {
    int calls = 0;
    Body body = [&calls] {
      ++calls;
      EXPECT_EQ(on_another_thread(aclFinalize), ACL_ERROR_REPEAT_FINALIZE);
      EXPECT_EQ(on_another_thread([] { return aclFinalizeReference(nullptr); }), ACL_ERROR_REPEAT_FINALIZE);
      EXPECT_EQ(on_another_thread([] { return aclInit(nullptr); }), ACL_ERROR_REPEAT_INITIALIZE);
      return aclError{ACL_SUCCESS};
    };
    on_end(body);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE) << "the count is 0 (R-35)";
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  });
}

TEST(LifecycleCallback, R269_R48_ALateCallbackThatWaitsForAThreadThatCallsEither) {
  in_limited_process([] {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    int calls = 0;
    Body body = [&calls] {
      ++calls;
      EXPECT_EQ(on_another_thread([] { return aclInit(nullptr); }), ACL_ERROR_REPEAT_INITIALIZE);
      EXPECT_EQ(on_another_thread(aclFinalize), ACL_SUCCESS);
      return aclError{ACL_SUCCESS};
    };
    on_init(body);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  });
}

// --- lists that change while they are called ------------------------------------------------------

TEST(LifecycleCallback, R269_ACallbackThatUnregistersItself) {
  in_limited_process([] {
    int calls = 0;
    Body begins = [&calls] {
      ++calls;
      EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, call_init), ACL_SUCCESS);
      EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, call_init), ACL_ERROR_INTERNAL_ERROR);
      return aclError{ACL_SUCCESS};
    };
    Body ends = [&calls] {
      ++calls;
      EXPECT_EQ(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, call_end), ACL_SUCCESS);
      return aclError{ACL_SUCCESS};
    };
    on_init(begins);
    on_end(ends);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
      EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    }
    EXPECT_EQ(calls, 2);
  });
}

TEST(LifecycleCallback, R269_ACallbackThatRegistersItselfAgainIsCalledOnce) {
  in_limited_process([] {
    int calls = 0;
    Body body;
    body = [&] {
      ++calls;
      EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, call_init), ACL_SUCCESS);
      on_init(body);
      return aclError{ACL_SUCCESS};
    };
    on_init(body);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(calls, 2);
  });
}

TEST(LifecycleCallback, R269_WhatIsUnregisteredBeforeItsTurnIsNotCalled) {
  in_limited_process([] {
    int others = 0;
    Body other = [&others] {
      ++others;
      return aclError{ACL_SUCCESS};
    };
    Body begins = [] {
      EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, call_init_too), ACL_SUCCESS);
      return aclError{ACL_SUCCESS};
    };
    Body ends = [] {
      EXPECT_EQ(
          on_another_thread([] { return aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, call_end_too); }),
          ACL_SUCCESS);
      return aclError{ACL_SUCCESS};
    };
    on_init(begins);
    on_init(other, call_init_too);
    on_end(ends);
    on_end(other, call_end_too);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(others, 0);
  });
}

TEST(LifecycleCallback, R269_R48_WhatAnotherThreadRegistersMeanwhileIsStillCalled) {
  for (const aclRegisterCallbackType type :
       {ACL_REG_TYPE_ACL_MODEL, ACL_REG_TYPE_ACL_OP_EXECUTOR, ACL_REG_TYPE_ACL_DVPP, ACL_REG_TYPE_OTHER}) {
    in_limited_process([type] {
      int others = 0;
      Body other = [&others] {
        ++others;
        return aclError{424242};  // counts for nothing, unless its turn was still to come
      };
      Body body = [&other, type] {
        std::thread([&] { on_init(other, call_init_too, type); }).join();
        return aclError{ACL_SUCCESS};
      };
      on_init(body);
      EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS) << type;
      EXPECT_EQ(others, 1) << type;
      EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
      EXPECT_EQ(others, 1) << type;
    });
  }
}

TEST(LifecycleCallback, R269_R40_AFinalizeCallbackRegisteredMeanwhileWaitsForTheNextEnd) {
  in_limited_process([] {
    int others = 0;
    Body other = [&others] {
      ++others;
      return aclError{ACL_SUCCESS};
    };
    Body body = [&other] {
      (void)on_another_thread(
          [&] { return aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, call_end_too, &other); });
      return aclError{ACL_SUCCESS};
    };
    on_end(body);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(others, 0);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(others, 1);
  });
}

// --- exceptions, and all at once ------------------------------------------------------------------

TEST(LifecycleCallback, R31_R40_R15_AnExceptionIsAnAnswerAndTheNextCallWorks) {
  in_limited_process([] {
    bool throws = true;
    Body body = [&throws]() -> aclError {
      if (throws) throw std::runtime_error{"of a callback"};
      return ACL_SUCCESS;
    };
    on_init(body);
    on_end(body);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_INTERNAL_ERROR);
    EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE) << "the count is 0";
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_INTERNAL_ERROR);
    throws = false;
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    throws = true;
    EXPECT_EQ(aclFinalize(), ACL_ERROR_INTERNAL_ERROR);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE) << "still initialised (R-40)";
    throws = false;
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  });
}

TEST(LifecycleCallback, R267_R268_R269_R18_EverythingAtOnce) {
  in_limited_process([] {
    std::atomic<int> inside{0};
    Body body = [&inside] {
      EXPECT_EQ(++inside, 1) << "callbacks of two calls at a time";
      EXPECT_EQ(--inside, 0);
      return aclError{ACL_SUCCESS};
    };
    Body own = [] { return aclError{ACL_SUCCESS}; };  // longer than a call that is under way
    on_init(body);
    on_end(body);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([t, &own] {
        for (int i = 0; i < 500; ++i) {
          (void)aclInit(nullptr);
          if (t == 0) {
            (void)aclInitCallbackRegister(ACL_REG_TYPE_ACL_DVPP, call_init_too, &own);
            (void)aclFinalizeCallbackRegister(ACL_REG_TYPE_ACL_DVPP, call_end_too, &own);
            (void)aclFinalizeCallbackUnRegister(ACL_REG_TYPE_ACL_DVPP, call_end_too);
            (void)aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_DVPP, call_init_too);
          }
          (void)(i % 3 == 0 ? aclFinalize() : aclFinalizeReference(nullptr));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    (void)aclFinalize();
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  });
}

}  // namespace lifecycle_callback_test
