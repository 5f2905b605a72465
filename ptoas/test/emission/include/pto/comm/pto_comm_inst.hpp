// Copies and signals between devices.
#ifndef PTO_COMM_INST_HPP
#define PTO_COMM_INST_HPP

#include "../instructions.hpp"

namespace pto {

namespace comm {

enum class NotifyOp { AtomicAdd, Set };
enum class WaitCmp { EQ, NE, GT, GE, LT, LE };
enum class ReduceOp { Sum, Max, Min };
enum class DmaEngine { SDMA, URMA, RDMA };
enum class CollEngine { AIV, CCU };

template <AnyGlobal G> struct ParallelGroup {
  ParallelGroup(G *tensors, int32_t ranks, int32_t root);
};
struct AsyncSession {};
struct AsyncEvent {
  bool valid() const;
  bool Wait(AsyncSession &session);
  bool Test(AsyncSession &session);
};

template <AnyGlobal S> void TNOTIFY(S &signal, int32_t value, NotifyOp op);
template <AnyGlobal S> void TWAIT(S &signal, int32_t value, WaitCmp compare);
template <AnyGlobal S> bool TTEST(S &signal, int32_t value, WaitCmp compare);
template <AtomicType Atomic = AtomicType::AtomicNone, AnyGlobal D, AnyGlobal S, VecTile T>
  requires(SameElement<D, S>)
RecordEvent TPUT(D &dst, S &src, T &staging);
template <AtomicType Atomic = AtomicType::AtomicNone, AnyGlobal D, AnyGlobal S, VecTile T>
  requires(SameElement<D, S>)
RecordEvent TPUT(D &dst, S &src, T &ping, T &pong);
template <AnyGlobal D, AnyGlobal S, VecTile T>
  requires(SameElement<D, S>)
RecordEvent TGET(D &dst, S &src, T &staging);
template <AnyGlobal D, AnyGlobal S, VecTile T>
  requires(SameElement<D, S>)
RecordEvent TGET(D &dst, S &src, T &ping, T &pong);
#define PTO_COLLECTIVE(NAME)                                                                       \
  template <CollEngine Engine = CollEngine::AIV, typename P, AnyGlobal G, VecTile T>               \
  RecordEvent NAME(ParallelGroup<P> &group, G &tensor, T &staging);                                \
  template <CollEngine Engine = CollEngine::AIV, typename P, AnyGlobal G, VecTile T>               \
  RecordEvent NAME(ParallelGroup<P> &group, G &tensor, T &ping, T &pong);
PTO_COLLECTIVE(TBROADCAST)
PTO_COLLECTIVE(TGATHER)
PTO_COLLECTIVE(TSCATTER)
#undef PTO_COLLECTIVE
template <CollEngine Engine = CollEngine::AIV, typename P, AnyGlobal G, VecTile A, VecTile T>
RecordEvent TREDUCE(ParallelGroup<P> &group, G &dst, A &acc, T &recv, ReduceOp op);
template <CollEngine Engine = CollEngine::AIV, typename P, AnyGlobal G, VecTile A, VecTile T>
RecordEvent TREDUCE(ParallelGroup<P> &group, G &dst, A &acc, T &ping, T &pong, ReduceOp op);
template <DmaEngine Engine = DmaEngine::SDMA, VecTile T>
bool BuildAsyncSession(T &scratch, __gm__ void *workspace, AsyncSession &session, uint32_t syncId);
template <DmaEngine Engine = DmaEngine::SDMA, AnyGlobal D, AnyGlobal S>
AsyncEvent TPUT_ASYNC(D &dst, S &src, AsyncSession &session);
template <DmaEngine Engine = DmaEngine::SDMA, AnyGlobal D, AnyGlobal S>
AsyncEvent TGET_ASYNC(D &dst, S &src, AsyncSession &session);

} // namespace comm

struct PrefetchAsyncContext {
  comm::AsyncSession session;
  template <typename... Inputs> explicit PrefetchAsyncContext(Inputs &...inputs);
};
template <AnyGlobal G> comm::AsyncEvent TPREFETCH_ASYNC(G &src, PrefetchAsyncContext &context);

} // namespace pto

#endif // PTO_COMM_INST_HPP
