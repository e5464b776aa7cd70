// SPDX-License-Identifier: Apache-2.0
#include "bpf_machine.h"

#include <cstring>
#include <stdexcept>
#include <string>

namespace rookery::policy {

namespace {

std::uint32_t word_of(const seccomp_data& data, std::uint32_t offset) {
  if (offset % 4 != 0 || offset + 4 > sizeof data) throw std::runtime_error("a load outside of seccomp_data");
  std::uint32_t word = 0;
  std::memcpy(&word, reinterpret_cast<const char*>(&data) + offset, sizeof word);
  return word;
}

bool holds(std::uint16_t comparison, std::uint32_t left, std::uint32_t right) {
  switch (comparison) {
    case BPF_JEQ: return left == right;
    case BPF_JGT: return left > right;
    case BPF_JGE: return left >= right;
    case BPF_JSET: return (left & right) != 0;
    default: throw std::runtime_error("unknown comparison " + std::to_string(comparison));
  }
}

// Signed, as the kernel compares them: SECCOMP_RET_KILL_PROCESS is the strictest.
std::int32_t strictness(std::uint32_t answer) { return static_cast<std::int32_t>(answer & SECCOMP_RET_ACTION_FULL); }

}  // namespace

std::uint32_t run(const std::vector<sock_filter>& program, const seccomp_data& data) {
  std::uint32_t accumulator = 0;
  for (std::size_t at = 0; at < program.size(); ++at) {
    const sock_filter& step = program[at];
    switch (BPF_CLASS(step.code)) {
      case BPF_LD:
        if (step.code != (BPF_LD | BPF_W | BPF_ABS)) throw std::runtime_error("a load that seccomp refuses");
        accumulator = word_of(data, step.k);
        break;
      case BPF_ALU:
        if (step.code != (BPF_ALU | BPF_AND | BPF_K)) throw std::runtime_error("arithmetic other than a mask");
        accumulator &= step.k;
        break;
      case BPF_JMP:
        if (step.code == (BPF_JMP | BPF_JA)) {
          at += step.k;
        } else {
          if (BPF_SRC(step.code) != BPF_K) throw std::runtime_error("a comparison with a register");
          at += holds(BPF_OP(step.code), accumulator, step.k) ? step.jt : step.jf;
        }
        break;
      case BPF_RET:
        return BPF_RVAL(step.code) == BPF_A ? accumulator : step.k;
      default: throw std::runtime_error("unknown instruction " + std::to_string(step.code));
    }
  }
  throw std::runtime_error("the program has no end");
}

std::uint32_t run_all(const std::vector<std::vector<sock_filter>>& programs, const seccomp_data& data) {
  std::uint32_t strictest = SECCOMP_RET_ALLOW;
  for (const auto& program : programs) {
    const std::uint32_t answer = run(program, data);
    if (strictness(answer) < strictness(strictest)) strictest = answer;
  }
  return strictest;
}

}  // namespace rookery::policy
