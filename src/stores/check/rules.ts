/** What helps if a rule does not hold. */
export type Remedy =
  /** What `store check --repair` does. */
  | { repair: string; decision?: undefined }
  /** What a person must decide, because only a person can say what is right, and how it is carried out. */
  | { repair?: undefined; decision: string };

/** What must hold in every store between two steps. */
export const RULES = {
  "listed user is gone": { repair: "takes it from the list" },
  "user is not listed": { repair: "lists it, as the newest" },
  "external id leads to nobody": { repair: "forgets where it leads" },
  "account is not reached": { repair: "leads its external id to it" },
  "token leads to nobody": { repair: "ends the token" },
  "token never ends": { repair: "lets it end in a day" },
  "token is not listed": { repair: "lists it among its user's tokens" },
  "listed tokens of nobody": { repair: "forgets the list" },
  "thread names of nobody": { repair: "forgets the names" },
  "channel is listed and not there": { repair: "takes it from the list" },
  "channel is not listed": { repair: "lists it" },
  "hold of a thread that is not held so": { repair: "forgets the hold" },
  "thread is held and not listed": { repair: "lists the hold, so that it is taken over if nobody has it" },
  "deadline of a thread that does not rest": { repair: "forgets the deadline" },
  "resting thread has no deadline": {
    repair: "lists its deadline; if it has none, lets the call expire now",
  },
  "part of a thread that is not there": { repair: "removes it" },
  "waiting message has no text": { repair: "forgets that it waits" },
  "text of a message that does not wait": { repair: "removes it" },
  "thread is not at its last activity": { repair: "puts it there" },
  "thread is not listed by its state": { repair: "lists it" },
  "thread is listed by a state that it is not in": { repair: "takes it from that list" },
  "listed thread is not there": { repair: "takes it from the list" },
  "owner of a thread is not listed": { repair: "lists whose it is" },
  "listed owner is of no thread": { repair: "forgets the owner" },
  "blocked user is not listed": { repair: "lists the user" },
  "listed user is not blocked": { repair: "takes the user from the list" },
  "thread has no name": {
    decision:
      "nobody reaches it: its user is gone, or lost the name. The operator API shows it (GET /v1/operator/channels/SLUG/threads/ID/messages); `threads delete SLUG ID` removes it",
  },
  "messages wait and nobody holds the thread": {
    decision: "the next message to the thread runs them first; `threads delete SLUG ID` removes them with it",
  },
  "message is out of its place": {
    decision:
      "the history has a gap there: restore a backup, or keep the thread as it is, or `threads delete SLUG ID`",
  },
  "run is not listed": {
    decision: "its messages are there, the run's steps are not shown: keep it as it is, or restore a backup",
  },
  "record cannot be read": {
    decision:
      "if it is a thread's, it is set aside when that is next used; to have it back, restore a backup, or CONTENT_KEYS",
  },
  "restore has not ended": {
    decision: "repeat `store restore` with the same file, or empty the store",
  },
} as const satisfies Record<string, Remedy>;

export type Rule = keyof typeof RULES;
