/**
 * What a channel's users may expect, said as plainly as possible: the spec's identify, its access rules and whose a
 * thread is, on objects in memory and one thing at a time. Nothing here is shared with the service.
 */
export interface Person {
  userId: string;
  externalId: string | null;
  displayName: string | null;
  blocked: boolean;
  whitelisted: boolean;
  talks: Talk[];
}

/** A thread: by its widget's id or the caller's name. */
export interface Talk {
  name: string;
  said: Said[];
}

export interface Said {
  text: string;
  /** `awaiting`: a page call is pending; `left`: the next message came before the call was answered. */
  state: "done" | "awaiting" | "left";
}

/** A visitor token, and whose it is. */
export interface Ticket {
  token: string;
  person: Person;
  boundTo: string | null;
}

export interface Town {
  enabled: boolean;
  whitelistOnly: boolean;
  people: Person[];
  tickets: Ticket[];
}

export function emptyTown(): Town {
  return { enabled: true, whitelistOnly: false, people: [], tickets: [] };
}

export function mayTalk(town: Town, { blocked, whitelisted }: Person): boolean {
  return town.enabled && !blocked && (whitelisted || !town.whitelistOnly);
}

export function accountOf(town: Town, externalId: string): Person | undefined {
  return town.people.find((person) => person.externalId === externalId);
}

function newPerson(userId: string, externalId: string | null): Person {
  return { userId, externalId, displayName: null, blocked: false, whitelisted: false, talks: [] };
}

export function visit(town: Town, token: string, userId: string): void {
  const person = newPerson(userId, null);
  town.people.push(person);
  town.tickets.push({ token, person, boundTo: null });
}

/** The account of an external id, made on first use. */
export function call(town: Town, externalId: string, userId: string, displayName: string | null): Person {
  let account = accountOf(town, externalId);
  if (account === undefined) {
    account = newPerson(userId, externalId);
    town.people.push(account);
  }
  account.displayName = displayName ?? account.displayName;
  return account;
}

export function talkOf(person: Person, name: string): Talk {
  let talk = person.talks.find((each) => each.name === name);
  if (talk === undefined) {
    talk = { name, said: [] };
    person.talks.push(talk);
  }
  return talk;
}

/** A pending call ends with the next message. */
export function say(talk: Talk, text: string, state: Said["state"]): void {
  for (const said of talk.said) if (said.state === "awaiting") said.state = "left";
  talk.said.push({ text, state });
}

export type Identified = { status: 200; userId: string; merged: boolean } | { status: 404 } | { status: 409 };

export function identify(town: Town, token: string, externalId: string): Identified {
  const ticket = town.tickets.find((each) => each.token === token);
  if (ticket === undefined) return { status: 404 };
  const { person } = ticket;
  if (ticket.boundTo !== null) {
    return ticket.boundTo === externalId
      ? { status: 200, userId: person.userId, merged: false }
      : { status: 409 };
  }
  ticket.boundTo = externalId;
  const account = accountOf(town, externalId);
  if (account === undefined) {
    person.externalId = externalId;
    return { status: 200, userId: person.userId, merged: false };
  }
  account.blocked ||= person.blocked;
  account.whitelisted ||= person.whitelisted;
  account.displayName ??= person.displayName;
  account.talks.push(...person.talks);
  town.people.splice(town.people.indexOf(person), 1);
  for (const each of town.tickets) if (each.person === person) each.person = account;
  return { status: 200, userId: account.userId, merged: true };
}
