//===- order_check.cpp - vector clocks of the queues of a running kernel --===//
#include "ptoas/Target/Native/Cluster.h"
#include "ptoas/Target/Native/OrderCheck.h"
#include <algorithm>

using namespace ptoas;

// More of them help nobody.
static constexpr size_t kMaxReports = 20;
// Uses of global memory that are kept although nothing orders anything behind them.
static constexpr size_t kMaxUses = 1024, kPruneAt = 128;
// Different bytes of tiles that are told apart; a loop over more of them starts anew.
static constexpr size_t kMaxRecords = 2048;

static void join(std::array<uint32_t, 12> &into, const std::array<uint32_t, 12> &other) {
  for (unsigned i = 0; i < into.size(); ++i)
    into[i] = std::max(into[i], other[i]);
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

bool OrderCheck::Bytes::meets(const Bytes &other) const {
  if (start >= other.end() || other.start >= end())
    return false;
  if (count == 1 && other.count == 1)
    return true;
  // Run i of one and run j of the other: a whole number k = i - j of pitches apart.
  if (count == 1 || other.count == 1 || pitch == other.pitch) {
    const Bytes &many = count == 1 ? other : *this, &few = count == 1 ? *this : other;
    int64_t step = many.pitch;
    if (step <= 0)
      return true;
    int64_t distance = few.start - many.start;
    // many starts `k * step` further on than few's run: they meet if -many.run < k * step -
    // distance < few.run.
    int64_t low = -(few.count - 1), high = many.count - 1;
    int64_t from = distance - many.run, quotient = from / step - (from % step < 0);
    int64_t k = std::max(low, quotient + 1);
    return k <= high && k * step < distance + few.run;
  }
  const Bytes &rows = count < other.count ? *this : other,
              &whole = count < other.count ? other : *this;
  for (int64_t i = 0; i < std::min<int64_t>(rows.count, 4096); ++i)
    if (Bytes{rows.start + i * rows.pitch, 1, 0, rows.run}.meets(whole))
      return true;
  return false;
}

/// Where two uses have bytes in common, from the first byte to the last.
static std::pair<int64_t, int64_t> common(int64_t a, int64_t endA, int64_t b, int64_t endB) {
  return {std::max(a, b), std::min(endA, endB)};
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

OrderCheck::Clock OrderCheck::told(unsigned queue) const {
  // The scalar queue has issued the flag, behind all that it waited for.
  Clock clock = known_[queue];
  join(clock, known_[0]);
  clock[queue] = counts_[queue];
  return clock;
}

const OrderCheck::Clock &OrderCheck::knownAt(const Last &last) const {
  static const Clock nothing{};
  return now_ - last.when < kRemembered ? knownLately_[last.when % kRemembered] : nothing;
}

OrderCheck::Memory &OrderCheck::memoryOf(int64_t key) {
  for (Memory &memory : memories_)
    if (memory.key == key)
      return memory;
  return memories_.emplace_back(Memory{key, {}});
}

uint32_t OrderCheck::recordOf(const OrderAccess &access, const Bytes &bytes) {
  Memory &memory = memoryOf(access.key);
  for (const Memory::Entry &known : memory.entries)
    if (known.bytes == bytes && known.tile == access.tile)
      return known.record;
  uint32_t number = records_.size();
  Record &made = records_.emplace_back();
  made.bytes = bytes;
  made.tile = access.tile;
  for (const Memory::Entry &other : memory.entries)
    if (other.bytes.meets(bytes)) {
      records_[other.record].meeting.push_back(number);
      made.meeting.push_back(other.record);
    }
  made.meeting.push_back(number);
  memory.entries.push_back({bytes, access.tile, number});
  return number;
}

void OrderCheck::missing(const Last &earlier, const OrderAccess &access, const Bytes &before,
                         const Bytes &now, int64_t base) {
  auto [begin, end] = common(before.start, before.end(), now.start, now.end());
  missing_.push_back({earlier, &access, begin - base, end - base});
}

/// Says which orders the instruction lacks, without those that others of them would bring along.
/// From here on all of them are taken to be there, so that each is missing once.
void OrderCheck::reportMissing(const OrderSite &site) {
  for (const Missing &m : missing_) {
    unsigned queue = m.last.site->queue;
    bool comesAlong = std::any_of(missing_.begin(), missing_.end(), [&](const Missing &other) {
      return other.last.site->queue == queue ? other.last.number > m.last.number
                                             : knownAt(other.last)[queue] >= m.last.number;
    });
    if (comesAlong || reports_.size() > kMaxReports ||
        !reported_.insert({m.last.site, &site}).second)
      continue;
    reports_.push_back({m.last.site, &site, m.last.access, m.now, m.begin, m.end});
    if (!hasOwnFlags_)
      looksForOrder_ = false;
  }
  Clock &known = known_[site.queue];
  for (const Missing &m : missing_) {
    join(known, knownAt(m.last));
    uint32_t &mine = known[m.last.site->queue];
    mine = std::max(mine, m.last.number);
  }
  missing_.clear();
}

void OrderCheck::look(const OrderSite &site, const OrderAccess &access, Record &record) {
  bool writes = access.flags & OrderAccess::Writes;
  for (uint32_t number : record.meeting) {
    Record &other = records_[number];
    if (access.flags & OrderAccess::Fresh) {
      other.readBy = other.writtenBy = 0;
      continue;
    }
    auto visit = [&](uint32_t queues, const std::array<Last, kQueues> &uses) {
      for (; queues; queues &= queues - 1) {
        unsigned queue = __builtin_ctz(queues);
        if (site.flags & OrderSite::Waits)
          known_[site.queue][queue] = std::max(known_[site.queue][queue], uses[queue].number);
        else if (!isKnown(site, queue, uses[queue].number))
          missing(uses[queue], access, other.bytes, record.bytes, 0);
      }
    };
    visit(other.writtenBy, other.writes);
    if (writes)
      visit(other.readBy, other.reads);
  }
}

/// A tile that is read although a part of it has been written over as another tile: tiles inside
/// one another are meant so, tiles that reach over each other's ends hardly ever.
void OrderCheck::lookForLostBytes(const OrderSite &site, const OrderAccess &access,
                                  const Record &record) {
  if (!record.written)
    return;
  for (uint32_t number : record.meeting) {
    const Record &other = records_[number];
    if (other.written <= record.written || other.tile == record.tile)
      continue;
    const Bytes &a = record.bytes, &b = other.bytes;
    bool isInside =
        (a.start <= b.start && b.end() <= a.end()) || (b.start <= a.start && a.end() <= b.end());
    if (isInside || !reported_.insert({&access, other.writer.access}).second)
      continue;
    if (notes_.size() > kMaxReports)
      return;
    auto [begin, end] = common(a.start, a.end(), b.start, b.end());
    notes_.push_back(std::string(site.place) + ": note: '" + site.op + "' reads " + access.name +
                     ", whose bytes " + std::to_string(begin) + " to " + std::to_string(end) +
                     " of " + access.space + " '" + other.writer.site->op + "' at " +
                     other.writer.site->place + " has written over as " +
                     other.writer.access->name + ": the tiles overlap in part");
  }
}

void OrderCheck::instruction(const OrderSite &site, const int64_t *numbers) {
  unsigned queue = site.queue, scalar = 0;
  Clock &known = known_[queue];
  join(known, known_[scalar]);
  known[scalar] = counts_[scalar];
  if (site.flags & OrderSite::Receives)
    join(known, sent_);
  if (records_.size() > kMaxRecords) {
    records_.clear();
    memories_.clear();
    recordOfAccess_.clear();
  }
  uint32_t used[16];
  uses_.clear();
  uint32_t count = std::min<uint32_t>(site.accessCount, 16);
  for (uint32_t i = 0; i < count; ++i) {
    const OrderAccess &access = site.accesses[i];
    used[i] = UINT32_MAX;
    if (access.flags & OrderAccess::Global) {
      if (looksForOrder_)
        global(site, access, numbers + access.first);
      continue;
    }
    if (access.flags & OrderAccess::Measured) {
      const int64_t *given = numbers + access.first;
      Bytes bytes{given[0], given[1], given[2], given[3]};
      if (bytes.isEmpty())
        continue;
      used[i] = recordOf(access, bytes);
    } else {
      if (access.index >= recordOfAccess_.size())
        recordOfAccess_.resize(access.index + 64);
      uint32_t &cached = recordOfAccess_[access.index];
      if (!cached)
        cached = recordOf(access, {access.start, access.count, access.pitch, access.run}) + 1;
      used[i] = cached - 1;
    }
    if (looksForOrder_)
      look(site, access, records_[used[i]]);
    if ((access.flags & OrderAccess::Placed) && (access.flags & OrderAccess::Reads))
      lookForLostBytes(site, access, records_[used[i]]);
  }
  if (!missing_.empty())
    reportMissing(site);
  uint32_t number = ++counts_[queue];
  ++now_;
  knownLately_[now_ % kRemembered] = known;
  for (uint32_t i = 0; i < count; ++i) {
    if (used[i] == UINT32_MAX)
      continue;
    const OrderAccess &access = site.accesses[i];
    Record &record = records_[used[i]];
    Last last{number, &site, &access, now_};
    if (access.flags & OrderAccess::Writes) {
      record.writes[queue] = last;
      record.writtenBy |= 1u << queue;
      record.written = now_;
      record.writer = last;
    } else {
      record.reads[queue] = last;
      record.readBy |= 1u << queue;
    }
  }
  for (auto &[use, isWrite] : uses_) {
    use.last.number = number;
    use.last.when = now_;
    std::vector<GlobalUse> &list = (isWrite ? globalWrites_ : globalReads_)[queue];
    list.push_back(use);
    if (list.size() % kPruneAt == 0)
      prune(list, queue);
  }
  if (queue == scalar)
    known[scalar] = counts_[scalar];
  if (site.flags & OrderSite::Sends)
    join(sent_, told(queue));
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

void OrderCheck::global(const OrderSite &site, const OrderAccess &access, const int64_t *numbers) {
  int64_t rank = access.count, base = numbers[1];
  const int64_t *sizes = numbers + 2, *strides = sizes + rank;
  // The dimensions from the inside, those that follow each other without a gap as one.
  int64_t size[5], stride[5];
  unsigned dims = 0;
  int64_t element = access.run, run = element;
  for (int64_t d = rank; d-- > 0;) {
    if (sizes[d] <= 0)
      return;
    if (sizes[d] == 1)
      continue;
    constexpr int64_t limit = int64_t(1) << 31; // beyond it nothing is a window of memory
    if (dims == 5 || sizes[d] > limit || strides[d] > limit)
      return;
    int64_t step = strides[d] * element;
    if (step < 0)
      return; // backwards: not looked at
    if (dims == 0 && step <= run)
      run = std::max(run, (sizes[d] - 1) * step + run);
    else if (dims && stride[dims - 1] * size[dims - 1] == step)
      size[dims - 1] *= sizes[d];
    else {
      size[dims] = sizes[d];
      stride[dims++] = step;
    }
  }
  // Rows of one pitch are exact; more dimensions are as many of them.
  int64_t parts = 1;
  for (unsigned d = 1; d < dims; ++d)
    parts *= size[d];
  if (parts > 64)
    return;
  for (int64_t part = 0; part < parts; ++part) {
    int64_t at = numbers[0], rest = part;
    for (unsigned d = 1; d < dims; ++d) {
      at += rest % size[d] * stride[d];
      rest /= size[d];
    }
    Bytes bytes{at, dims ? size[0] : 1, dims ? stride[0] : 0, run};
    bool writes = access.flags & OrderAccess::Writes;
    for (uint32_t queues = globalQueues_; queues; queues &= queues - 1) {
      unsigned queue = __builtin_ctz(queues);
      auto visit = [&](const std::vector<GlobalUse> &list) {
        for (size_t i = list.size(); i-- > 0;) {
          if (isKnown(site, queue, list[i].last.number))
            return; // and so are those before
          if (list[i].bytes.meets(bytes))
            missing(list[i].last, access, list[i].bytes, bytes, base);
        }
      };
      visit(globalWrites_[queue]);
      if (writes)
        visit(globalReads_[queue]);
    }
    uses_.push_back({{bytes, base, {0, &site, &access, 0}}, writes});
  }
  globalQueues_ |= 1u << site.queue;
}

/// Forgets what every queue that touches global memory knows to be done.
void OrderCheck::prune(std::vector<GlobalUse> &uses, unsigned queue) {
  uint32_t done = UINT32_MAX;
  for (uint32_t queues = globalQueues_; queues; queues &= queues - 1)
    done = std::min(done, known_[__builtin_ctz(queues)][queue]);
  size_t keep = 0;
  while (keep < uses.size() && uses[keep].last.number <= done)
    ++keep;
  if (uses.size() - keep > kMaxUses)
    keep = uses.size() - kMaxUses / 2;
  uses.erase(uses.begin(), uses.begin() + static_cast<ptrdiff_t>(keep));
}

//===----------------------------------------------------------------------===//
// Flags and barriers
//===----------------------------------------------------------------------===//

std::string OrderCheck::flagText(const OrderSync &sync, int64_t event) {
  return std::string("[<") + sync.fromName + ">, <" + sync.toName + ">, <EVENT_ID" +
         std::to_string(event) + ">]";
}

OrderCheck::Flag &OrderCheck::flagOf(const OrderSync &sync, int64_t event) {
  uint16_t &number = flagNumbers_[sync.from][sync.to][event];
  if (!number) {
    flags_.emplace_back().event = event;
    number = flags_.size();
  }
  return flags_[number - 1];
}

void OrderCheck::sync(const OrderSync &sync, int64_t event) {
  auto report = [&](const std::string &text) {
    if (faults_.size() <= kMaxReports && reported_.insert({&sync, nullptr}).second)
      faults_.push_back(std::string(sync.place) + ": error: '" + sync.op + "' op " + text);
  };
  bool isFlag = sync.kind == OrderSync::Set || sync.kind == OrderSync::Wait;
  if (isFlag && (event < 0 || event >= kEvents)) {
    report("uses event " + std::to_string(event) + "; events are 0 to " +
           std::to_string(kEvents - 1));
    return;
  }
  switch (static_cast<OrderSync::Kind>(sync.kind)) {
  case OrderSync::Set: {
    Flag &flag = flagOf(sync, event);
    if (flag.isSet)
      report("sets " + flagText(sync, event) + " again, which nothing has waited for since '" +
             flag.set->op + "' at " + flag.set->place + " set it");
    else if (told(sync.from)[sync.to] < flag.lastWait)
      report("sets " + flagText(sync, event) +
             " again before the wait for its last set is known to have run: missing is an order "
             "from <" +
             sync.toName + "> back to <" + sync.fromName + ">");
    flag.isSet = true;
    flag.clock = told(sync.from);
    flag.set = &sync;
    return;
  }
  case OrderSync::Wait: {
    Flag &flag = flagOf(sync, event);
    if (!flag.isSet)
      report("waits for " + flagText(sync, event) +
             ", which nothing has set: a device would wait for ever");
    flag.isSet = false;
    flag.lastWait = ++counts_[sync.to];
    join(known_[sync.to], flag.clock);
    return;
  }
  case OrderSync::Barrier:
    known_[sync.from][sync.from] = counts_[sync.from];
    return;
  case OrderSync::BarrierAll:
    known_.fill(counts_);
    return;
  case OrderSync::Take:
    if (auto token = tokens_.find(event); token != tokens_.end())
      join(known_[sync.from], token->second);
    return;
  case OrderSync::Give: {
    Clock &token = tokens_[event];
    join(token, told(sync.from));
    return;
  }
  case OrderSync::Send:
    join(sent_, told(sync.from));
    return;
  case OrderSync::Receive:
    join(known_[sync.from], sent_);
    return;
  }
}

//===----------------------------------------------------------------------===//
// What is said
//===----------------------------------------------------------------------===//

void OrderCheck::Findings::add(std::vector<std::string> &list, std::string text) {
  if (std::find(list.begin(), list.end(), text) == list.end())
    list.push_back(std::move(text));
}

std::string OrderCheck::textOf(const Report &m) const {
  bool isEarlierRound = m.later->number <= m.earlier->number;
  std::string bytes = "bytes " + std::to_string(m.begin) + " to " + std::to_string(m.end);
  std::string text = std::string("'") + m.later->op + "' op may run before '" + m.earlier->op +
                     "' at " + m.earlier->place + " is done" +
                     (isEarlierRound ? ", that of an earlier iteration" : "") + ": both touch ";
  if (m.now->flags & OrderAccess::Placed)
    text += std::string(m.now->space) + " " + bytes + " (";
  else
    text += bytes + " of ";
  text += m.now->name;
  if (m.now->tile != m.before->tile && !(m.now->flags & OrderAccess::Global))
    text += std::string(", there ") + m.before->name;
  if (m.now->flags & OrderAccess::Placed)
    text += ")";
  const char *from = m.earlier->queueName, *to = m.later->queueName;
  if (m.earlier->queue == m.later->queue)
    return text + "; missing: barrier <" + from + "> between them";
  int64_t event = 0;
  while (event < kEvents && usesEvent(m.earlier->queue, m.later->queue, event))
    ++event;
  std::string flag = std::string("[<") + from + ">, <" + to + ">, " +
                     (event < kEvents ? "<EVENT_ID" + std::to_string(event) + ">"
                                      : "an event that is free there") +
                     "]";
  text += "; missing: set_flag" + flag + " behind that one, wait_flag" + flag + " before this one";
  if (isEarlierRound)
    text += ", and one set in front of the loop and one wait behind it";
  return text;
}

void OrderCheck::finish(Findings &findings) {
  for (const std::string &note : notes_)
    findings.add(findings.notes, note);
  if (!hasOwnFlags_) {
    if (!reports_.empty())
      findings.add(findings.notes,
                   std::string(reports_.front().later->place) +
                       ": note: the kernel does not order its queues, and this run has followed "
                       "the text: for a device it needs --enable-insert-sync (" +
                       textOf(reports_.front()) + ")");
    return;
  }
  for (const Report &m : reports_) {
    findings.add(findings.errors, std::string(m.later->place) + ": error: " + textOf(m));
    if (&m - reports_.data() + 1 == static_cast<ptrdiff_t>(kMaxReports))
      break;
  }
  for (const std::string &fault : faults_)
    findings.add(findings.errors, fault);
  for (const Flag &flag : flags_)
    if (flag.isSet)
      findings.add(findings.errors, std::string(flag.set->place) + ": error: '" + flag.set->op +
                                        "' op sets " + flagText(*flag.set, flag.event) +
                                        ", which nothing waits for: the next kernel would find "
                                        "it set");
}

//===----------------------------------------------------------------------===//
// What compiled kernels call (Order.cpp of the native target)
//===----------------------------------------------------------------------===//

#define PTO_ORDER_API extern "C" __attribute__((visibility("default"), used))

PTO_ORDER_API OrderCheck *pto_order_begin(Place *place, int32_t hasOwnFlags) {
  OrderCheck *check = place ? place->order : nullptr;
  if (check)
    check->begin(hasOwnFlags);
  return check;
}
PTO_ORDER_API void pto_order_instruction(OrderCheck *check, const OrderSite *site,
                                         const int64_t *numbers) {
  if (check)
    check->instruction(*site, numbers);
}
PTO_ORDER_API void pto_order_sync(OrderCheck *check, const OrderSync *sync, int64_t event) {
  if (check)
    check->sync(*sync, event);
}
