/* The slot protocol: what server/pool/batch, server/pool and server/supervise do with the rows of
 * requests and with output leases while deadlines pass and workers are killed at any step.
 *
 * One pool and one configured worker of one lane. A place holds the rows of one request; a slot is
 * a batch of a lane with its rows and its output lease. Each of the pool's methods is one atomic
 * step, as its mutex makes it; a worker's steps are its own, and the kernel takes it away between
 * any two of them, some time after SIGKILL was sent. Each incarnation has its own rings, records
 * and output area, as WorkerLink has; the area here has room for one lease.
 * The first request is of a decoupled model: ANSWERS batches that it has to itself may each bring one
 * answer before the one that ends it, and it waits in between until the answer is taken.
 *
 * Held to:
 *   a request ends exactly once;
 *   a place is not given to a request, nor a lease to a batch, while a live worker may still read
 *   or write it, or an answer still points into it;
 *   a batch has filled rows only, and an answer is made of its own request's payload;
 *   no request is dispatched more than DISPATCHES times, nor again when it has had an answer;
 *   a slot goes only where the table of legal transitions lets it;
 *   at rest no place, slot and lease is in use: otherwise Front cannot end, and the verifier
 *   reports an invalid end state.
 *
 * Each BUG_ macro breaks one rule of the code; the verifier must find an error with any of them.
 */
#ifndef REQUESTS
#define REQUESTS 2 /* at most 3 */
#endif
#ifndef KILLS
#define KILLS 3 /* at most 3 */
#endif
#define PLACES 2
#define EPOCHS 4
#define DISPATCHES 3
#define DECOUPLED 0
#ifndef ANSWERS
#define ANSWERS 0 /* of the decoupled model, before the end of its request: at most 1 */
#endif
#define NOBODY 15
#define AT(inc, place) ((inc) * PLACES + (place))

/* RequestState and SlotState. */
mtype = { kNew, kReserved, kQueued, kRunning, kAnswering, kEnded,
          kFree, kLeased, kAbandoned, kCompleted, kDead, kReplying };

mtype request_state[3] = kNew;
bool replied[3];
byte dispatches[3];
byte answers[1];
bool given_up[1]; /* Request::given_up: its rows have ended, its last answer is on its way */
byte next_request; /* those from here on have not arrived */

/* SlabTable: who has a place (an abandoned request keeps it), and whose payload lies in it. */
byte owner[PLACES] = NOBODY;
byte content[PLACES] = NOBODY;

/* Pool: the slot and its batch. */
bool attached; /* the pool has the newest incarnation's link */
mtype slot_state[EPOCHS] = kFree;
byte batch_id;
byte next_batch_id = 1;
bool entry[PLACES];                  /* the batch has this place */
byte entry_request[PLACES] = NOBODY; /* BatchEntry::request; NOBODY once it has ended */

/* WorkerLink: the lease of each incarnation's output area. */
bool leased[EPOCHS];
bool pinned[EPOCHS]; /* an answer points into it */

/* Shared memory of each incarnation: batch record and submit ring, completion record and ring. */
bool submitted[EPOCHS];
byte record_id[EPOCHS];
bool record_rows[EPOCHS * PLACES];
bool record_cancelled[EPOCHS];
bool completed[EPOCHS];
byte completion_id[EPOCHS];
byte completion_content[EPOCHS * PLACES];

/* The worker's process. */
byte epoch;
bool alive[EPOCHS]; /* until waitpid says that it is gone */
bool killed[EPOCHS];
bool busy[EPOCHS]; /* from taking a batch to completing it: reads its rows, writes its lease */
byte kills;

/* Scratch of the atomic steps; 0 between them. */
byte p;
byte c;
bool any;

#define WITH_LANE(state) ((state) == kRunning || (state) == kAbandoned)
#define INFLIGHT (WITH_LANE(slot_state[epoch]))

/* SlotLife::Go and its table. */
inline Go(inc, next) {
  assert((slot_state[inc] == kFree && next == kLeased) ||
         (slot_state[inc] == kLeased && next == kRunning) ||
         (slot_state[inc] == kRunning &&
          (next == kAbandoned || next == kCompleted || next == kDead)) ||
         (slot_state[inc] == kAbandoned && (next == kCompleted || next == kDead)) ||
         (slot_state[inc] == kCompleted && next == kReplying) ||
         (slot_state[inc] == kDead && next == kReplying) ||
         (slot_state[inc] == kReplying && next == kFree));
  slot_state[inc] = next
}

inline End(request) {
  assert(!replied[request]);
  replied[request] = true;
  request_state[request] = kEnded
}

/* SlabTable::Reserve, which is where rows are used again. */
inline ReserveRows(place, request) {
  c = 0;
  do
  :: c < EPOCHS -> assert(!(alive[c] && busy[c] && record_rows[AT(c, place)])); c++
  :: else -> break
  od;
  c = 0;
  owner[place] = request;
  content[place] = NOBODY
}

/* SlabTable::EndRows */
inline EndRows(place) {
  assert(owner[place] != NOBODY);
  owner[place] = NOBODY
}

#ifdef BUG_FORM_RESERVED
#define WAITS(request) (request_state[request] == kQueued || request_state[request] == kReserved)
#else
#define WAITS(request) (request_state[request] == kQueued)
#endif

/* Dispatcher::Dispatch: all that waits goes to the lane, if that is free and a lease can be had. */
inline Dispatch() {
  if
  :: attached && slot_state[epoch] == kFree && !leased[epoch] ->
    p = 0;
    do
    :: p < PLACES ->
      if
      :: owner[p] != NOBODY && !entry[p] -> any = WAITS(owner[p])
      :: else -> any = false
      fi;
      record_rows[AT(epoch, p)] = any;
      if
      :: any ->
        assert(dispatches[owner[p]] < DISPATCHES);
        assert(content[p] == owner[p]);
        request_state[owner[p]] = kRunning;
        entry[p] = true;
        entry_request[p] = owner[p]
      :: else
      fi;
      p++
    :: else -> break
    od;
    p = 0;
    any = false;
    if
    :: entry[0] || entry[1] ->
      assert(!(alive[epoch] && busy[epoch]) && !pinned[epoch]);
      Go(epoch, kLeased);
      leased[epoch] = true;
      batch_id = next_batch_id;
      next_batch_id++;
      record_id[epoch] = batch_id;
      record_cancelled[epoch] = false;
      submitted[epoch] = true;
      Go(epoch, kRunning)
    :: else
    fi
  :: else
  fi
}

/* InflightTable::TakeOut; the replies are given by Carry, outside of the mutex. */
inline EndBatch() {
  p = 0;
  do
  :: p < PLACES -> entry[p] = false; entry_request[p] = NOBODY; p++
  :: else -> break
  od;
  p = 0;
  batch_id = 0;
  Go(epoch, kReplying)
}

/* Pool::AwaitContinue: the rows stay, no batch has them. */
inline AwaitContinue(place) {
  answers[entry_request[place]]++;
#ifdef BUG_ROWS_END_WITH_ANSWER
  EndRows(place);
#endif
  request_state[entry_request[place]] = kAnswering
}

/* Pool::Continue: the answer is taken. */
inline Continue(request) {
  if
#ifndef BUG_CONTINUE_GIVEN_UP
  :: given_up[request] -> given_up[request] = false; End(request)
#endif
  :: else -> request_state[request] = kQueued; Dispatch()
  fi
}

/* Pool::GiveUp: a deadline has passed, or a client is gone, while an answer is on its way. */
inline GiveUp(request) {
  p = 0;
  do
  :: p < PLACES && owner[p] != request -> p++
  :: else -> break
  od;
  EndRows(p);
  given_up[request] = true;
  p = 0
}

/* Pool::TakeCompletion, out of the ring of one incarnation. */
inline TakeCompletion(inc) {
  completed[inc] = false;
#ifndef BUG_NO_EPOCH_CHECK
  assert(completion_id[inc] == batch_id);
#endif
  Go(epoch, kCompleted);
  p = 0;
  do
  :: p < PLACES ->
    if
    :: entry[p] ->
#ifdef BUG_ANSWER_ABANDONED
      entry_request[p] = owner[p];
#endif
      if
      :: entry_request[p] == DECOUPLED && !entry[1 - p] && answers[DECOUPLED] < ANSWERS ->
        assert(completion_content[AT(inc, p)] == entry_request[p]);
        AwaitContinue(p)
      :: entry_request[p] != NOBODY ->
        assert(completion_content[AT(inc, p)] == entry_request[p]);
        End(entry_request[p]);
        EndRows(p)
      :: else -> EndRows(p)
      fi
    :: else
    fi;
    p++
  :: else -> break
  od;
  EndBatch()
}

/* WorkerLoss::Take, for one entry of the batch of a worker that is gone. */
inline DispatchAgain(place) {
#ifdef BUG_DISPATCH_ABANDONED
  entry_request[place] = owner[place];
#endif
  if
  :: entry_request[place] == NOBODY ->
#ifndef BUG_LEAK_ABANDONED
    EndRows(place);
#endif
    skip
  :: else ->
    dispatches[entry_request[place]]++;
    if
#ifndef BUG_NO_DISPATCH_LIMIT
    :: dispatches[entry_request[place]] >= DISPATCHES -> End(entry_request[place]); EndRows(place)
#endif
#ifndef BUG_ANSWERED_AGAIN
    :: dispatches[entry_request[place]] < DISPATCHES && entry_request[place] == DECOUPLED &&
         answers[DECOUPLED] > 0 ->
      End(entry_request[place]);
      EndRows(place)
#endif
    :: else ->
      assert(entry_request[place] != DECOUPLED || answers[DECOUPLED] == 0);
      request_state[entry_request[place]] = kQueued
    fi
  fi
}

/* PoolWorkers::Detach. What the worker completed before it died counts, unless it was condemned. */
inline Detach() {
  if
  :: completed[epoch] && INFLIGHT -> TakeCompletion(epoch)
  :: true
  fi;
  if
  :: INFLIGHT ->
    Go(epoch, kDead);
    c = 0;
    do
    :: c < PLACES ->
      if
      :: entry[c] -> DispatchAgain(c)
      :: else
      fi;
      c++
    :: else -> break
    od;
    c = 0;
    EndBatch()
  :: else
  fi;
  attached = false
}

/* PoolCarrier::Carry: the batch's reference on the lease goes; an answer's slice may hold another. */
inline Carry(inc) {
  Go(inc, kFree);
  if
  :: leased[inc] = false
  :: pinned[inc] = true;
#ifdef BUG_FREE_PINNED
    leased[inc] = false;
#endif
    skip
  fi
}

/* Pool::Tick and Pool::Cancel: a deadline has passed, or a client is gone. */
inline Expire(request) {
  p = 0;
  do
  :: p < PLACES && owner[p] != request -> p++
  :: else -> break
  od;
  if
  :: request_state[request] == kQueued -> End(request); EndRows(p)
  :: else ->
    End(request);
    entry_request[p] = NOBODY; /* its rows stay until the batch ends */
#ifdef BUG_FREE_AT_DEADLINE
    entry[p] = false;
    EndRows(p);
#endif
    if
    :: entry_request[0] == NOBODY && entry_request[1] == NOBODY ->
      record_cancelled[epoch] = true;
      Go(epoch, kAbandoned)
    :: else
    fi
  fi;
  p = 0
}

/* Lane::ServeOne. Between any two steps the process may be gone. */
proctype Worker(byte me) {
  byte place;
  byte got[PLACES] = NOBODY;
end_idle:
  do
  :: atomic { alive[me] && submitted[me] -> submitted[me] = false; busy[me] = true };
    if
    :: atomic { alive[me] && !record_cancelled[me] -> skip };
      do
      :: atomic { alive[me] && place < PLACES ->
          if
          :: record_rows[AT(me, place)] -> got[place] = content[place]
          :: else
          fi;
          place++ }
      :: atomic { alive[me] && place == PLACES -> place = 0; break }
      :: atomic { !alive[me] -> goto gone }
      od
    :: atomic { alive[me] && record_cancelled[me] -> skip }
    :: atomic { !alive[me] -> goto gone }
    fi;
    if
    :: atomic { alive[me] ->
        completion_content[AT(me, 0)] = got[0];
        completion_content[AT(me, 1)] = got[1];
        got[0] = NOBODY;
        got[1] = NOBODY }
    :: atomic { !alive[me] -> goto gone }
    fi;
    if
    :: atomic { alive[me] ->
        completion_id[me] = record_id[me];
        completed[me] = true;
        busy[me] = false }
    :: atomic { !alive[me] -> goto gone }
    fi
  :: atomic { !alive[me] -> goto gone }
  od;
gone:
  skip
}

/* SIGKILL, from wherever, and its arrival. */
proctype Kernel() {
end_idle:
  do
  :: atomic { kills < KILLS && alive[epoch] && !killed[epoch] -> kills++; killed[epoch] = true }
  :: atomic { killed[0] && alive[0] -> alive[0] = false }
  :: atomic { killed[1] && alive[1] -> alive[1] = false }
  :: atomic { killed[2] && alive[2] -> alive[2] = false }
  od
}

#ifdef BUG_RECLAIM_BEFORE_WAITPID
#define GONE killed[epoch]
#else
#define GONE (!alive[epoch])
#endif

#define RESERVED(place) (owner[place] != NOBODY && request_state[owner[place]] == kReserved)
#define INSIDE(request) (request_state[request] == kQueued || request_state[request] == kRunning)
#define ENDED(request) (request >= REQUESTS || request_state[request] == kEnded)
#define AT_REST(inc) (slot_state[inc] == kFree && !leased[inc] && !pinned[inc])

inline Fill(place) {
  content[place] = owner[place];
  request_state[owner[place]] = kQueued;
  Dispatch()
}

inline Unpin(inc) {
  pinned[inc] = false;
  leased[inc] = false;
  Dispatch()
}

/* The memory of an incarnation that is gone is never looked at again. */
inline Unmap(inc) {
  if
  :: alive[inc]
  :: else ->
    submitted[inc] = false;
    completed[inc] = false;
    record_id[inc] = 0;
    record_cancelled[inc] = false;
    completion_id[inc] = 0;
    p = 0;
    do
    :: p < PLACES ->
      record_rows[AT(inc, p)] = false;
      completion_content[AT(inc, p)] = 0;
      p++
    :: else -> break
    od;
    p = 0;
    busy[inc] = false;
    killed[inc] = false
  fi
}

/* The front end's threads: any of their steps, in any order. */
proctype Front() {
  do
  :: atomic { next_request < REQUESTS && owner[0] == NOBODY ->
      request_state[next_request] = kReserved;
      ReserveRows(0, next_request);
      next_request++ }
  :: atomic { next_request < REQUESTS && owner[0] != NOBODY && owner[1] == NOBODY ->
      request_state[next_request] = kReserved;
      ReserveRows(1, next_request);
      next_request++ }
  :: atomic { RESERVED(0) -> Fill(0) }
  :: atomic { RESERVED(1) -> Fill(1) }
  :: atomic { INSIDE(0) -> Expire(0) }
  :: atomic { INSIDE(1) -> Expire(1) }
  :: atomic { INSIDE(2) -> Expire(2) }
  :: atomic { request_state[DECOUPLED] == kAnswering && !given_up[DECOUPLED] ->
      GiveUp(DECOUPLED) }
  :: atomic { request_state[DECOUPLED] == kAnswering -> Continue(DECOUPLED) }
  :: atomic { attached && completed[epoch] && INFLIGHT -> TakeCompletion(epoch); Dispatch() }
#ifdef BUG_NO_EPOCH_CHECK
  :: atomic { attached && epoch > 0 && completed[epoch - 1] && INFLIGHT ->
      TakeCompletion(epoch - 1);
      Dispatch() }
#endif
  :: atomic { slot_state[0] == kReplying -> Carry(0); Dispatch() }
  :: atomic { slot_state[1] == kReplying -> Carry(1); Dispatch() }
  :: atomic { slot_state[2] == kReplying -> Carry(2); Dispatch() }
  :: atomic { slot_state[3] == kReplying -> Carry(3); Dispatch() }
  :: atomic { pinned[0] -> Unpin(0) }
  :: atomic { pinned[1] -> Unpin(1) }
  :: atomic { pinned[2] -> Unpin(2) }
  :: atomic { pinned[3] -> Unpin(3) }
  :: atomic { attached && GONE -> Detach() }
  :: atomic { !attached && epoch < KILLS && GONE ->
#ifndef BUG_NO_EPOCH_CHECK
      Unmap(epoch);
#endif
      epoch++;
      alive[epoch] = true;
      run Worker(epoch);
      attached = true;
      Dispatch() }
  :: atomic { ENDED(0) && ENDED(1) && ENDED(2) && owner[0] == NOBODY && owner[1] == NOBODY &&
      AT_REST(0) && AT_REST(1) && AT_REST(2) && AT_REST(3) -> break }
  od
}

init {
  atomic {
    alive[0] = true;
    attached = true;
    run Worker(0);
    run Kernel();
    run Front()
  }
}
