//===- Runner.h - run the kernels of a `.pto` file on this machine --------===//
//
// What pto-run and pypto.runtime.run_pto share. Plain C++: no MLIR type appears here.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_DRIVER_RUNNER_H
#define PTOAS_DRIVER_RUNNER_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ptoas {

struct RunnerOptions {
  std::string arch;    // "a2", "a3", "a5"; empty: what the module says
  std::string entry;   // one function, or "cube,vector"; empty: the entry of the module
  bool fuse = true;    // fuse chains of instructions
  bool check = false;  // checked execution: see README.md; `open` looks at memory and addresses
  std::string dumpDir; // stages of the native target are written here when not empty
};

/// An argument that the caller gives: of the kernel without what the launch fills in itself
/// (`__pypto_spmd_block_idx`, `__pypto_spmd_block_num`, `__pypto_spmd_subblock_idx`).
struct RunnerArgument {
  std::string name; // as in the text, without `%`
  bool isPointer = false;
  std::string type;    // "!pto.ptr<f32>", "i32"
  std::string element; // of a pointer: "f32"; of a scalar: its type
  unsigned bytes = 0;  // of an element or a scalar; packed four-bit floats: of one byte
};

struct RunnerValue {
  uint64_t word = 0; // address, or the bits of a scalar in its low bytes
  int64_t bytes = 0; // of the array
};

class Runner {
public:
  /// Parses, verifies and finds the entry. Null on error: `problem` has one line that says what
  /// failed; diagnostics (`file:line:col: error: …`) go to `diagnostics`, or to stderr when it is
  /// null. `name` is what diagnostics call the text.
  static std::unique_ptr<Runner> open(std::string_view text, const std::string &name,
                                      const RunnerOptions &options, std::string &problem,
                                      std::string *diagnostics);
  ~Runner();

  const std::vector<RunnerArgument> &arguments() const;
  const std::string &entryName() const;
  /// The word of a scalar argument from its text; false when the text is no such value.
  bool parseScalar(unsigned argument, std::string_view text, uint64_t &word) const;

  /// Arrays that are surely too small for the kernel's views are an error, found without running.
  bool checkExtents(const std::vector<RunnerValue> &values, std::string &problem,
                    std::string *diagnostics);
  /// Makes machine code. Call once. Linking in process resets LLVM's command line options.
  bool compile(std::string &problem, std::string *diagnostics);
  double compileMilliseconds() const;

  /// One function of the cluster and the lane that it runs for.
  struct Member {
    unsigned function;
    int64_t lane;
  };
  /// Who runs side by side in each block: one function, or the cube and one or two vector lanes.
  const std::vector<Member> &members() const;

  /// Whether all blocks of a launch run side by side, because they wait for each other.
  bool blocksMeet() const;

  struct Launch {
    int64_t blocks = 1;
    int64_t onlyBlock = -1; // >= 0: this block alone
    /// Runs `count` calls of `member(context, i)` side by side; `yield` for their waiting may be
    /// null. Null: one thread each.
    void (*coRun)(void *host, int count, void (*member)(void *context, int i, void (*yield)()),
                  void *context) = nullptr;
    void *host = nullptr;
  };
  /// Runs all blocks, side by side if the kernel meets them (pto.syncall), else one after the
  /// other. False after a fault (check, deadlock), which `problem` describes. What a checked run
  /// has to say besides goes to `notes`, once for each Runner.
  bool run(const std::vector<RunnerValue> &values, const Launch &launch, std::string &problem,
           std::string *notes = nullptr);

private:
  struct State;
  explicit Runner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace ptoas

#endif // PTOAS_DRIVER_RUNNER_H
