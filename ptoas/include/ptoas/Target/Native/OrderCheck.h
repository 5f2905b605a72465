//===- OrderCheck.h - the order of queues, looked at while a kernel runs --===//
//
// Part of pto_kernels. Code compiled with Options::checkOrder tells of each instruction,
// flag and barrier of a core as it comes to it, with the bytes that the instruction
// touches. One OrderCheck for each core keeps a vector clock per queue, as SyncModel does,
// and so finds what the queues of a device might do in another order than this machine
// did: with the extents, addresses and event ids of the run.
//
//===----------------------------------------------------------------------===//
#ifndef PTOAS_TARGET_NATIVE_ORDERCHECK_H
#define PTOAS_TARGET_NATIVE_ORDERCHECK_H

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ptoas {

// What compiled code holds as constants. The native target writes the same fields in this order.

/// One operand of an instruction: `count` runs of `run` bytes, `pitch` bytes apart.
struct OrderAccess {
  enum Flag : uint32_t {
    Reads = 1,
    Writes = 2,
    Global = 4,   // `count` is the rank, `run` the bytes of an element
    Measured = 8, // the numbers of the bytes come with the instruction
    Placed = 16,  // the program gave the tile its address
    Fresh = 32,   // a slot of a FIFO: whoever had its bytes before has given them back
  };
  const char *name;  // "tile %t", "argument 0 'x'"
  const char *space; // "vec"; of global memory nothing
  int64_t key;       // bytes of different keys are apart
  int64_t start, count, pitch, run;
  uint32_t flags;
  uint32_t index; // of the module
  uint32_t tile;  // operands that are parts of one allocation have the same
  uint32_t first; // of its numbers
};

struct OrderSite {
  enum Flag : uint32_t {
    InOrder = 1,  // runs behind all earlier ones of its queue
    Sends = 2,    // another core may go on behind it
    Receives = 4, // runs behind what another core did, and so behind all that was sent to it
    Waits = 8,    // waits for everything that touches its operands
  };
  const char *place; // file:line:col
  const char *op;
  const char *queueName;
  uint32_t queue, flags, number, accessCount;
  const OrderAccess *accesses;
};

struct OrderSync {
  enum Kind : uint32_t { Set, Wait, Barrier, BarrierAll, Take, Give, Send, Receive };
  const char *place;
  const char *op;
  const char *fromName, *toName;
  uint32_t kind, from, to;
};

/// What is found in the run of one core.
class OrderCheck {
public:
  /// Whether the program orders its queues itself: then what is missing is an error; else the
  /// assembler will insert flags, and all there is to say is that it must.
  void begin(bool hasOwnFlags) { hasOwnFlags_ |= hasOwnFlags; }
  void instruction(const OrderSite &site, const int64_t *numbers);
  void sync(const OrderSync &sync, int64_t event);

  struct Findings {
    std::vector<std::string> errors, notes;
    void add(std::vector<std::string> &list, std::string text);
  };
  /// At the end of the kernel.
  void finish(Findings &findings);

private:
  static constexpr unsigned kQueues = 12, kEvents = 8;
  using Clock = std::array<uint32_t, kQueues>;
  struct Bytes {
    int64_t start, count, pitch, run;
    int64_t end() const { return start + (count - 1) * pitch + run; }
    bool operator==(const Bytes &) const = default;
    bool isEmpty() const { return count <= 0 || run <= 0; }
    bool meets(const Bytes &other) const;
  };
  struct Last {
    uint32_t number = 0;
    const OrderSite *site = nullptr;
    const OrderAccess *access = nullptr;
    uint64_t when = 0; // among all instructions of the core
  };
  /// The last uses of the same bytes of tiles.
  struct Record {
    Bytes bytes;
    uint32_t tile;
    uint32_t readBy = 0, writtenBy = 0; // queues
    std::array<Last, kQueues> reads{}, writes{};
    std::vector<uint32_t> meeting; // records with bytes in common, this one among them
    uint64_t written = 0;          // when last
    Last writer;
  };
  struct Memory {
    struct Entry {
      Bytes bytes;
      uint32_t tile, record;
    };
    int64_t key;
    std::vector<Entry> entries;
  };
  /// A use of global memory, as long as some queue may run before it is done.
  struct GlobalUse {
    Bytes bytes;
    int64_t base;
    Last last;
  };
  struct Flag {
    int64_t event = 0;
    bool isSet = false;
    Clock clock{};
    uint32_t lastWait = 0;
    const OrderSync *set = nullptr;
  };
  /// An order that the instruction in hand lacks.
  struct Missing {
    Last last;
    const OrderAccess *now;
    int64_t begin, end;
  };
  struct Report {
    const OrderSite *earlier, *later;
    const OrderAccess *before, *now;
    int64_t begin, end;
  };

  Clock told(unsigned queue) const;
  /// What the queue of an instruction knew to be done when it began; nothing if that is long ago.
  const Clock &knownAt(const Last &last) const;
  Flag &flagOf(const OrderSync &sync, int64_t event);
  bool usesEvent(unsigned from, unsigned to, int64_t event) const {
    return flagNumbers_[from][to][event] != 0;
  }
  Memory &memoryOf(int64_t key);
  uint32_t recordOf(const OrderAccess &access, const Bytes &bytes);
  bool isKnown(const OrderSite &site, unsigned queue, uint32_t number) const {
    return known_[site.queue][queue] >= number ||
           (queue == site.queue && (site.flags & OrderSite::InOrder));
  }
  void look(const OrderSite &site, const OrderAccess &access, Record &record);
  void lookForLostBytes(const OrderSite &site, const OrderAccess &access, const Record &record);
  void global(const OrderSite &site, const OrderAccess &access, const int64_t *numbers);
  void prune(std::vector<GlobalUse> &uses, unsigned queue);
  void missing(const Last &earlier, const OrderAccess &access, const Bytes &before,
               const Bytes &now, int64_t base);
  void reportMissing(const OrderSite &site);
  std::string textOf(const Report &report) const;
  static std::string flagText(const OrderSync &sync, int64_t event);

  std::array<Clock, kQueues> known_{};
  Clock counts_{}, sent_{};
  bool hasOwnFlags_ = false, looksForOrder_ = true;
  std::vector<Flag> flags_;
  uint16_t flagNumbers_[kQueues][kQueues][kEvents] = {}; // of setting and waiting queue, plus one
  std::map<int64_t, Clock> tokens_;
  std::vector<Memory> memories_;
  std::deque<Record> records_;           // they stay where they are
  std::vector<uint32_t> recordOfAccess_; // by index, plus one
  std::vector<GlobalUse> globalReads_[kQueues], globalWrites_[kQueues];
  uint32_t globalQueues_ = 0;
  std::vector<std::pair<GlobalUse, bool>> uses_; // of the instruction in hand; whether it writes
  uint64_t now_ = 0;
  static constexpr unsigned kRemembered = 64;
  Clock knownLately_[kRemembered]; // by `when`
  std::vector<Missing> missing_;
  std::vector<Report> reports_;
  std::set<std::pair<const void *, const void *>> reported_;
  std::vector<std::string> faults_, notes_;
};

} // namespace ptoas

#endif // PTOAS_TARGET_NATIVE_ORDERCHECK_H
