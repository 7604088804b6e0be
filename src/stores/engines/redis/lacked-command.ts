/**
 * Says of a server that speaks Redis' protocol and does not know a command that the store needs (its functions, or HELLO
 * of RESP 3), which servers do; null: the message is about something else.
 */
export function lackedCommand(message: string): string | null {
  const command = /^ERR unknown command ['`"]?([A-Z]+)/i.exec(message)?.[1];
  return command === undefined
    ? null
    : `it has no command ${command.toUpperCase()}. The store takes Redis 7.0, Valkey 7.2, or newer, or a service made of these: each of its steps is a function of the server; KeyDB, Dragonfly and Redis 6 have none`;
}
