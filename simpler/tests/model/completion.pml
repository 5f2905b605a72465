/* Completion protocol of the scheduler, for Spin:

     spin -a completion.pml && cc -O2 -DSAFETY -o pan pan.c && ./pan
     (deadlocks and assertions; the never-lost property is the assertion at the end)

   One orchestrator submits tasks 1..N. Task t depends on t-1 (a chain) and t-2. Workers run ready
   tasks. As in lib/Submit.cpp and lib/Executor.cpp:
     - fanIn starts biased, so that nothing starts before all edges are in;
     - a predecessor's successor list is a set of edges, closed by one exchange at completion;
       adding an edge is a compare-and-swap that fails once the list is closed;
     - completed tasks are handed back through one shared stack; the giver then looks whether the
       owner sleeps, the owner says that it sleeps and then looks at the stack (Dekker). */

#define N 4
#define WORKERS 2
#define BIAS 64

bit closed[N + 1];
bit edge1[N + 1];   /* edge t -> t+1 */
bit edge2[N + 1];   /* edge t -> t+2 */
short fanIn[N + 1];
bit ready[N + 1];   /* in some deque */
byte runs[N + 1];
byte returned;      /* completed tasks on the stack */
bit asleep, permit;
byte done;

inline release(s) {
  /* fetch_sub(1) == 1 */
  d_step {
    fanIn[s] = fanIn[s] - 1;
    if
    :: fanIn[s] == 0 -> ready[s] = 1
    :: else
    fi
  }
}

inline execute(t) {
  runs[t] = runs[t] + 1;
  assert(runs[t] == 1);
  assert(t < 2 || runs[t - 1] == 1);          /* predecessors ran before */
  assert(t < 3 || runs[t - 2] == 1);
  d_step { e1 = edge1[t]; e2 = edge2[t]; closed[t] = 1 }  /* exchange */
  if :: e1 -> release(t + 1) :: else fi;
  if :: e2 -> release(t + 2) :: else fi;
  returned++;
  if :: asleep -> permit = 1 :: else fi
}

active [WORKERS] proctype worker() {
  byte t;
  bit e1, e2;
  do
  :: atomic { ready[1] -> ready[1] = 0; t = 1 } -> execute(t)
  :: atomic { ready[2] -> ready[2] = 0; t = 2 } -> execute(t)
  :: atomic { ready[3] -> ready[3] = 0; t = 3 } -> execute(t)
  :: atomic { ready[4] -> ready[4] = 0; t = 4 } -> execute(t)
  :: done == 1 -> break
  od
}

active proctype orchestrator() {
  byte t = 1, added, back = 0;
  do
  :: t <= N ->
     fanIn[t] = BIAS;
     added = 0;
     if
     :: t > 1 -> atomic { if :: !closed[t - 1] -> edge1[t - 1] = 1; added++ :: else fi }
     :: else
     fi;
     if
     :: t > 2 -> atomic { if :: !closed[t - 2] -> edge2[t - 2] = 1; added++ :: else fi }
     :: else
     fi;
     d_step {
       fanIn[t] = fanIn[t] - (BIAS - added);
       if :: fanIn[t] == 0 -> ready[t] = 1 :: else fi
     };
     t++
  :: else -> break
  od;
  /* wait for all: drain, say that we sleep, drain again, sleep */
  do
  :: d_step { back = back + returned; returned = 0 };
     if
     :: back == N -> break
     :: else ->
        asleep = 1;
        if
        :: returned > 0 -> skip
        :: else -> permit == 1; permit = 0   /* park */
        fi;
        asleep = 0
     fi
  od;
  done = 1;
  assert(runs[1] == 1 && runs[2] == 1 && runs[3] == 1 && runs[4] == 1)
}
