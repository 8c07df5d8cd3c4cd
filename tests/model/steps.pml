/* Requests of a model of steps: what server/compose/steps does with runs, steps and the tensors between
 * them while clients leave, deadlines pass, steps fail, workers die and a member is replaced.
 *
 * Each request is a StepRun; each of its steps is a request of its own in its member's queue, and
 * member and step have one number. A thread is whatever calls the run: the client's, that of an
 * ending, that of a cancellation. What the code does under one mutex is one atomic step. An ending
 * that the code gives on the calling thread is a thread of its own here, which allows more orders.
 *
 *   2 steps   0 ─▶ 1
 *   3 steps   0 ─▶ 1 and 2
 *   4 steps   0 ─▶ 1 and 2 ─▶ 3
 *
 * Tensor i is made by step i. The client wants the last one and tensor 1. Where there
 * are two requests, the first is deadly to the worker of step POISON.
 *
 * Held to:
 *   a request ends exactly once, with no step open, and nobody reads its message afterwards;
 *   no step begins after the first fault, nor enters a queue after the ending;
 *   a step that was told of a cancellation is not answered;
 *   a step reads only tensors that are there, and each is given back exactly once;
 *   nobody touches a run that is gone, nor enters a queue whose workers have left;
 *   a strike hits the deadly request alone, in the queue of the step that it is deadly to;
 *   at rest no run, tensor, lease and place in a queue is in use: otherwise init cannot end, and the
 *   verifier reports an invalid end state.
 *
 * Each BUG_ macro breaks one rule of the code; the verifier must find an error with any of them.
 */
#ifndef REQUESTS
#define REQUESTS 1 /* at most 2 */
#endif
#ifndef STEPS
#define STEPS 3 /* 2 to 4 */
#endif
#ifndef FAULTS
#define FAULTS 1 /* steps that fail, cancellations and deadlines, together */
#endif
#ifndef CHANGES
#define CHANGES 0 /* of the member of step 1: reloads and unloads, at most 2 */
#endif
#ifndef KILLS
#define KILLS 0 /* of workers, from outside */
#endif
#define DISPATCHES 3
#define POISON 1
#define CHANGED 1
#define TEXTS (STEPS - 1) /* the step that may have long texts */
#define NO_GENERATION 3
#define ALL (REQUESTS * STEPS)
#define AT(whole, step) ((whole) * STEPS + (step))
#define WHOLE(whole) (ALL + (whole))

/* RequestState without kAnswering, since no member is decoupled; what a thread brings: a new request,
 * its client's cancellation, or the ending of a step; where the bytes of a tensor are: nowhere, in a
 * leased memory, in a copy, or where the last answer has them. */
mtype = { kNew, kWaiting, kReserved, kQueued, kRunning, kEnded,
          kNone, kArrived, kLeft, kAnswered, kFailed, kStruck,
          kNowhere, kPinned, kCopied, kSeen };

mtype request_state[ALL + REQUESTS] = kNew; /* of steps, then of wholes */
bool replied[ALL + REQUESTS];

/* StepRun and ChildRun, under their mutex. A step is open from its beginning until it has begun
 * those that its tensors make ready. */
bool begun[ALL];
bool done[ALL];
bool ended[ALL];
bool beginning[REQUESTS] = true;
bool over[REQUESTS];
mtype fault[REQUESTS] = kNone;
byte faulty[REQUESTS];

/* StepRun: who keeps it, and its tensors. */
byte holders[REQUESTS];
bool in_table[REQUESTS]; /* RunTable */
byte uses[ALL];
mtype place[ALL] = kNowhere;
byte copies;
byte lease[ALL]; /* references on the memory of that step's answer */

/* StepRequest. */
bool handled[ALL];
bool cancelled[ALL];
bool let_go[ALL];

/* Members: of each step's request, and the generations of the one that changes. */
bool given_up[ALL]; /* Request::cancelled */
bool suspect[ALL];
byte dispatches[ALL];
byte generation[ALL];
byte serving;
bool closed[3];
bool left_by_workers[3];
byte inside[3];

/* The world, and what only the checks know. */
byte faults;
byte kills;
byte changes;
byte waits;     /* the step for whose rows there is no room at first; STEPS: none */
bool can_pin;   /* tensors stay where they are; else they are copied */
bool has_texts; /* long ones, of step TEXTS */
bool late[REQUESTS];
bool admitted[REQUESTS]; /* the client's thread has returned */
bool told[REQUESTS];     /* the steps that were open at the fault have been cancelled */

/* Scratch of the atomic steps; 0 between them. */
byte n;
bool alone;

#define READS(step, tensor) ((((step) == 1 || (step) == 2) && (tensor) == 0) || \
                             ((step) == 3 && ((tensor) == 1 || (tensor) == 2)))
#define WANTED(tensor) ((tensor) == STEPS - 1 || (tensor) == 1)
#define HAS(whole, step) ((step) >= STEPS || done[AT(whole, step)])
#define READY(whole, step) (!begun[AT(whole, step)] && ((step) == 0 || \
    ((step) < 3 && done[AT(whole, 0)]) || ((step) == 3 && HAS(whole, 1) && HAS(whole, 2))))
#define HAS_WITH(whole, step, more) (HAS(whole, step) || (step) == (more))
#define ALL_DONE_WITH(whole, more) (HAS_WITH(whole, 0, more) && HAS_WITH(whole, 1, more) && \
                                  HAS_WITH(whole, 2, more) && HAS_WITH(whole, 3, more))
#define IS_OPEN(whole, step) ((step) < STEPS && begun[AT(whole, step)] && !ended[AT(whole, step)])
#define IS_UNANSWERED(whole, step) (IS_OPEN(whole, step) && !done[AT(whole, step)])
#define ANY_UNANSWERED(whole) \
  (IS_UNANSWERED(whole, 0) || IS_UNANSWERED(whole, 1) || IS_UNANSWERED(whole, 2) || \
   IS_UNANSWERED(whole, 3))
#define ANY_OPEN(whole) \
  (IS_OPEN(whole, 0) || IS_OPEN(whole, 1) || IS_OPEN(whole, 2) || IS_OPEN(whole, 3))
#define IN_QUEUE(i) (request_state[i] == kWaiting || request_state[i] == kQueued || \
                     request_state[i] == kRunning)
#define DEADLY(whole, step) (REQUESTS == 2 && (whole) == 0 && (step) == POISON)

/* Request::Go and its table. */
inline Go(i, next) {
  assert((request_state[i] == kNew && (next == kReserved || next == kWaiting)) ||
         (request_state[i] == kWaiting && (next == kReserved || next == kEnded)) ||
         (request_state[i] == kReserved && (next == kQueued || next == kEnded)) ||
         (request_state[i] == kQueued && (next == kRunning || next == kEnded)) ||
         (request_state[i] == kRunning && (next == kQueued || next == kEnded)));
  request_state[i] = next
}

#define STANDS(whole) assert(holders[whole] > 0)

/* StepTensor::Drop, by the last reader. */
inline Drop(i) {
  assert(place[i] == kPinned || place[i] == kCopied);
  if
  :: place[i] == kPinned -> assert(lease[i] > 0); lease[i]--
  :: else -> copies--
  fi;
  place[i] = kNowhere
}

/* ~StepRun, with the last one that keeps the run. */
inline LetGoOfRun(whole) {
  holders[whole]--;
  n = 0;
  do
  :: holders[whole] == 0 && n < STEPS ->
    assert(!IS_OPEN(whole, n));
    if
#ifndef BUG_KEEP_AT_END
    :: place[AT(whole, n)] == kPinned || place[AT(whole, n)] == kCopied -> Drop(AT(whole, n))
#endif
    :: else -> place[AT(whole, n)] = kNowhere
    fi;
    n++
  :: else -> break
  od;
  n = 0
}

/* StepRequest::LetGo and StepRun::InputsRead. */
inline LetGo(whole, step) {
  STANDS(whole);
  n = 0;
  do
#ifndef BUG_LET_GO_TWICE
  :: let_go[AT(whole, step)] -> break
#endif
  :: else ->
    if
    :: n < STEPS && READS(step, n) ->
      assert(uses[AT(whole, n)] > 0);
      uses[AT(whole, n)]--;
      if
      :: uses[AT(whole, n)] == 0 -> Drop(AT(whole, n))
      :: else
      fi
    :: n >= STEPS -> let_go[AT(whole, step)] = true; break
    :: else
    fi;
    n++
  od;
  n = 0
}

/* RowWriter::Fill reads what the step's message points to. */
inline ReadInputs(whole, step) {
  STANDS(whole);
  assert(step != 0 || !replied[WHOLE(whole)]);
  n = 0;
  do
  :: n < STEPS -> assert(!READS(step, n) || place[AT(whole, n)] != kNowhere); n++
  :: else -> break
  od;
  n = 0
}

/* A queue, or admission, ends a step: from now on a thread brings its reply. */
inline EndStep(whole, step, how) {
  assert(!replied[AT(whole, step)]);
  replied[AT(whole, step)] = true;
  if
  :: request_state[AT(whole, step)] != kNew ->
    Go(AT(whole, step), kEnded);
    if
    :: step == CHANGED -> inside[generation[AT(whole, step)]]--
    :: else
    fi
  :: else
  fi;
  run Thread(whole, step, how)
}

/* RequestQueue::Cancel of a member's queue. */
inline CancelInQueue(whole, step) {
  if
  :: IN_QUEUE(AT(whole, step)) -> EndStep(whole, step, kFailed)
  :: request_state[AT(whole, step)] == kReserved ->
    assert(handled[AT(whole, step)]);
    given_up[AT(whole, step)] = true
  :: else
  fi
}

/* ChildRequest::Cancel */
inline CancelStep(whole, step) {
  STANDS(whole);
#ifndef BUG_FORGET_CANCEL
  cancelled[AT(whole, step)] = true;
#endif
  if
#ifndef BUG_CANCEL_UNHANDLED
  :: !handled[AT(whole, step)]
#endif
  :: else -> CancelInQueue(whole, step)
  fi
}

/* StepRun::TakeReady; `step` is STEPS if there is none. */
inline TakeReady(whole, step) {
  STANDS(whole);
  step = 0;
  do
  :: step < STEPS && !READY(whole, step) -> step++
  :: else -> break
  od;
  if
#ifndef BUG_BEGIN_AFTER_FAULT
  :: fault[whole] != kNone -> step = STEPS
#endif
  :: else
  fi;
  if
  :: step < STEPS -> assert(fault[whole] == kNone && !over[whole]); begun[AT(whole, step)] = true
  :: else
  fi
}

/* Pool::Reserve of the generation that admission has found: there is room, or there will be. */
inline Reserve(whole, step) {
  assert(!replied[WHOLE(whole)]);
  if
  :: step == CHANGED ->
    assert(!left_by_workers[generation[AT(whole, step)]]);
    inside[generation[AT(whole, step)]]++
  :: else
  fi;
  if
  :: step == waits -> Go(AT(whole, step), kWaiting)
  :: else -> Go(AT(whole, step), kReserved)
  fi
}

#ifdef BUG_ENTER_CLOSED
#define IS_CLOSED(whole, step) false
#else
#define IS_CLOSED(whole, step) ((step) == CHANGED && closed[generation[AT(whole, step)]])
#endif

/* Admission finds the member. Only where it may change is Pool::Reserve a step of its own. */
inline LookUp(whole, step) {
  if
  :: late[whole] || (step == CHANGED && serving == NO_GENERATION) -> EndStep(whole, step, kFailed)
  :: else ->
    if
    :: step == CHANGED -> generation[AT(whole, step)] = serving
    :: else
    fi;
    if
    :: step != CHANGED || CHANGES == 0 -> Reserve(whole, step)
    :: else
    fi
  fi
}

#define IS_LOOKED_UP(whole, step) \
  (request_state[AT(whole, step)] == kNew && !replied[AT(whole, step)])
#define IS_RESERVED(whole, step) (request_state[AT(whole, step)] == kReserved && step != waits)

/* StepRequest::Handle after the look-up, on the thread of the run or on one that encodes texts. */
inline Handle(whole, step) {
  do
  :: atomic { IS_LOOKED_UP(whole, step) ->
      STANDS(whole);
      if
      :: IS_CLOSED(whole, step) -> LookUp(whole, step)
      :: else -> Reserve(whole, step)
      fi }
  :: atomic { IS_RESERVED(whole, step) ->
      ReadInputs(whole, step);
      Go(AT(whole, step), kQueued) }
  :: atomic { !IS_LOOKED_UP(whole, step) && !IS_RESERVED(whole, step) ->
      if
#ifndef BUG_LET_GO_UNREAD
      :: step == waits && request_state[AT(whole, step)] != kNew
#endif
      :: else -> LetGo(whole, step)
      fi;
      STANDS(whole);
      handled[AT(whole, step)] = true;
      if
      :: cancelled[AT(whole, step)] -> CancelInQueue(whole, step)
      :: else
      fi;
      break }
  od
}

/* A thread of TaskThreads, which keeps the run while it hands the step over. */
proctype Texts(byte whole; byte step) {
  if
  :: atomic { fault[whole] != kNone || late[whole] -> EndStep(whole, step, kFailed) }
  :: atomic { fault[whole] == kNone && !late[whole] ->
      STANDS(whole);
      holders[whole]++;
      LookUp(whole, step) };
    Handle(whole, step);
    atomic { LetGoOfRun(whole) }
  fi
}

/* What comes into a run, until it leaves. A cancellation and a new request have taken hold of it. */
proctype Thread(byte whole; byte step; byte how) {
  byte answered = STEPS;
  byte child = STEPS; /* the step that this ends */
  if
  :: how == kArrived -> goto begin
  :: how == kLeft -> goto fail
  :: else ->
    atomic {
      LetGo(whole, step);
#ifndef BUG_NOT_HELD
      holders[whole]++;
#endif
      child = step;
      if
      :: how == kAnswered -> answered = step
      :: else -> goto fail
      fi
    }
  fi;
  /* ChildAnswered */
  atomic {
    if
    :: fault[whole] == kNone && ALL_DONE_WITH(whole, step) ->
      done[AT(whole, step)] = true;
      ended[AT(whole, step)] = true;
#ifndef BUG_END_UNTOLD
      over[whole] = true;
#endif
      place[AT(whole, step)] = kSeen;
      goto give
    :: else
    fi
  };
#ifdef BUG_DONE_BEFORE_HELD
  done[AT(whole, step)] = true;
#endif
  if
  :: atomic { true ->
      STANDS(whole);
      if
      :: can_pin -> place[AT(whole, step)] = kPinned; lease[AT(whole, step)]++
      :: else -> place[AT(whole, step)] = kCopied; copies++
      fi;
      done[AT(whole, step)] = true }
  :: atomic { !can_pin && faults < FAULTS -> faults++; how = kFailed; goto fail }
  fi;

begin: /* BeginReady */
  do
  :: atomic { TakeReady(whole, step);
      if
      :: step == STEPS -> goto close
      :: else -> ReadInputs(whole, step)
      fi;
      if
      :: step == TEXTS && has_texts -> run Texts(whole, step); goto begin
      :: else -> LookUp(whole, step)
      fi };
    Handle(whole, step)
  od;

fail: /* ChildFailed and Cancel */
  atomic {
    STANDS(whole);
    if
    :: over[whole] || fault[whole] != kNone -> goto close
    :: how == kStruck -> fault[whole] = kStruck; faulty[whole] = step
    :: else -> fault[whole] = kFailed
    fi
  };
  atomic {
    step = 0;
    do
    :: step < STEPS ->
      if
      :: IS_OPEN(whole, step) -> CancelStep(whole, step)
      :: else
      fi;
      step++
    :: else -> break
    od;
    told[whole] = true
  };

close: /* ChildRun::Close */
  atomic {
    if
    :: how == kLeft -> goto leave
    :: child < STEPS -> ended[AT(whole, child)] = true
    :: else -> beginning[whole] = false
    fi;
    if
    :: over[whole] || beginning[whole] -> goto leave
#ifndef BUG_END_WITH_OPEN
    :: ANY_OPEN(whole) -> goto leave
#endif
    :: else ->
      assert(fault[whole] != kNone || ALL_DONE_WITH(whole, STEPS));
      over[whole] = true
    fi
  };

give: /* RunTable::Leave, then the one reply. */
  atomic {
    in_table[whole] = false;
    Go(WHOLE(whole), kEnded);
    LetGoOfRun(whole);
    STANDS(whole);
    assert(!replied[WHOLE(whole)] && !ANY_UNANSWERED(whole));
    assert(fault[whole] != kStruck || faulty[whole] == POISON);
    do
    :: n < STEPS && fault[whole] == kNone ->
      assert(done[AT(whole, n)] && (!WANTED(n) || place[AT(whole, n)] != kNowhere));
      n++
    :: else -> break
    od;
    n = 0;
    replied[WHOLE(whole)] = true
  };

leave:
  atomic {
    if
    :: how == kArrived -> admitted[whole] = true
    :: else
    fi;
    if
    :: answered < STEPS -> lease[AT(whole, answered)]--
    :: else
    fi;
#ifdef BUG_NOT_HELD
    if
    :: how == kArrived || how == kLeft -> LetGoOfRun(whole)
    :: else
    fi;
#else
    LetGoOfRun(whole);
#endif
    step = 0;
    how = 0;
    answered = 0;
    child = 0
  }
}

/* WorkerLoss::Take and JudgeLoss, for one request of the worker that is gone. */
inline Judge(whole, step, crashed) {
  if
#ifdef BUG_STRIKE_COMPANY
  :: crashed ->
#else
  :: crashed && alone ->
#endif
    assert(DEADLY(whole, step));
    EndStep(whole, step, kStruck)
  :: !(crashed && alone) && dispatches[AT(whole, step)] >= DISPATCHES -> EndStep(whole, step, kFailed)
  :: !(crashed && alone) && dispatches[AT(whole, step)] < DISPATCHES ->
    suspect[AT(whole, step)] =
      suspect[AT(whole, step)] || crashed || dispatches[AT(whole, step)] >= 2;
    Go(AT(whole, step), kQueued)
  fi
}

#define OTHER(whole) ((whole) ^ (REQUESTS - 1))
#define HAS_COMPANY(whole, step) \
  (REQUESTS == 2 && request_state[AT(OTHER(whole), step)] == kRunning && \
   generation[AT(OTHER(whole), step)] == generation[AT(whole, step)])
#define MAY_RUN(whole, step) (!HAS_COMPANY(whole, step) || \
                            (!suspect[AT(whole, step)] && !suspect[AT(OTHER(whole), step)]))

/* The worker of the batch is gone, with all that it has. */
inline Lose(whole, step, crashed) {
  alone = !HAS_COMPANY(whole, step);
  if
  :: !alone -> Judge(OTHER(whole), step, crashed)
  :: else
  fi;
  Judge(whole, step, crashed);
  alone = false
}

/* The queue and the workers of a member, for one step of one request. */
proctype Member(byte whole; byte step) {
end_idle:
  do
  :: atomic { request_state[AT(whole, step)] == kWaiting -> Go(AT(whole, step), kReserved) };
    atomic {
      ReadInputs(whole, step);
      if
      :: given_up[AT(whole, step)] -> EndStep(whole, step, kFailed)
      :: else -> Go(AT(whole, step), kQueued)
      fi }
  :: atomic { request_state[AT(whole, step)] == kQueued && MAY_RUN(whole, step) ->
      Go(AT(whole, step), kRunning);
      dispatches[AT(whole, step)]++ }
  :: atomic { request_state[AT(whole, step)] == kRunning && !DEADLY(whole, step) ->
      assert(!(told[whole] && handled[AT(whole, step)]));
      lease[AT(whole, step)]++;
      EndStep(whole, step, kAnswered) }
  :: atomic { request_state[AT(whole, step)] == kRunning && DEADLY(whole, step) ->
      Lose(whole, step, true) }
  :: atomic { request_state[AT(whole, step)] == kRunning && faults < FAULTS ->
      faults++;
      EndStep(whole, step, kFailed) }
  :: atomic { request_state[AT(whole, step)] == kRunning && kills < KILLS ->
      kills++;
      Lose(whole, step, false) }
  :: atomic { late[whole] && IN_QUEUE(AT(whole, step)) -> EndStep(whole, step, kFailed) }
  od
}

#define EMPTY(of) (closed[of] && inside[of] == 0 && !left_by_workers[of])

/* The first request's deadline and client, and the member that is replaced or unloaded. */
proctype World() {
end_idle:
  do
  :: atomic { faults < FAULTS && !late[0] -> faults++; late[0] = true }
  :: atomic { faults < FAULTS && admitted[0] && in_table[0] ->
      faults++;
      holders[0]++;
      run Thread(0, STEPS, kLeft) }
  :: atomic { changes < CHANGES && serving != NO_GENERATION ->
      changes++;
      closed[serving] = true;
      if
      :: serving++
      :: serving = NO_GENERATION
      fi }
  :: atomic { EMPTY(0) -> left_by_workers[0] = true }
  :: atomic { EMPTY(1) -> left_by_workers[1] = true }
  od
}

#define FREE(whole, tensor) \
  ((whole) >= REQUESTS || (tensor) >= STEPS || lease[AT(whole, tensor)] == 0)
#define AT_REST(whole) ((whole) >= REQUESTS || \
  (replied[WHOLE(whole)] && holders[whole] == 0 && FREE(whole, 0) && FREE(whole, 1) && FREE(whole, 2) && \
   FREE(whole, 3)))

init {
  byte whole;
  byte step;
  atomic {
    if /* what matters in this size, of all that may be */
    :: REQUESTS == 1 && STEPS != 3 -> waits = 0; can_pin = true
    :: REQUESTS == 1 && STEPS == 2 -> waits = 1; has_texts = true
    :: REQUESTS == 1 && STEPS == 3 -> waits = 1
    :: REQUESTS == 2 -> waits = STEPS; can_pin = true /* the members alone matter */
    fi;
    run World();
    do
    :: whole < REQUESTS ->
      step = 0;
      do
      :: step < STEPS ->
        run Member(whole, step);
        uses[AT(whole, step)] =
          WANTED(step) + READS(1, step) + (STEPS > 2 && READS(2, step)) +
          (STEPS > 3 && READS(3, step));
        step++
      :: else -> break
      od;
      whole++
    :: else -> break
    od;
    whole = 0;
    step = 0;
    do
    :: whole < REQUESTS ->
      Go(WHOLE(whole), kWaiting); /* StepQueue::Enter */
      in_table[whole] = true;
      holders[whole] = 2;
      run Thread(whole, STEPS, kArrived);
      whole++
    :: else -> break
    od;
    whole = 0
  };
  AT_REST(0) && AT_REST(1) && copies == 0 && inside[0] == 0 && inside[1] == 0 && inside[2] == 0
}
