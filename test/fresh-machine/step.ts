import type { Machine, Ran, RunOptions } from "./machine.ts";

/** Something that a person does on a fresh machine, and what they must see. */
export interface Step {
  name: string;
  does(machine: Machine): Promise<Ran>;
  /** Exit code 0, unless it says otherwise. */
  code?: number;
  says: readonly (string | RegExp)[];
  /** Lines of what it said that a reader wants to see. */
  shows: RegExp;
}

/**
 * Starts a service by `command` on any free port, pastes the line that it prints, looks at its first page, and stops it:
 * Ctrl-C reaches the whole group, as at a terminal.
 */
export function serves(
  command: string,
  { port = "0", stop = "INT", look = ":" }: { port?: string; stop?: string; look?: string } = {},
): string {
  return `
set -m
said=$HOME/said log=$HOME/log
# What an earlier start has said is no greeting of this one.
rm -f $said
PORT=${port} DEMO_PORT= ${command} >$log 2>$said &
service=$!
for try in $(seq 600); do grep -qs '^curl ' $said && break; kill -0 $service 2>/dev/null || break; sleep 0.2; done
cat $said
grep '^curl ' $said >$HOME/paste || { cat $log; kill -KILL -- -$service 2>/dev/null; wait $service; exit $?; }
bash $HOME/paste 2>$HOME/progress || cat $HOME/progress
${look}
curl -s $(sed -n 's/^ *Chat agent *//p' $said)/ | grep -o '<title>.*</title>'
kill -${stop} -- -$service
wait $service
echo "exit code $?"
grep -oE '"listener":"[a-z]*"|[^"]*node:http listens[^"]*' $log
`;
}

export const SERVE = "node dist/src/cli/chat-agent.js serve";

/** What each start must show, whatever listens. */
export const GREETS = ["Paste this to talk to it", '"type":"done"', "<title>Chat Agent Service</title>"];
export const SHOWN =
  /^ {2}(Chat agent|Model) |"type":"done"|<title>|^exit code|"listener"|node:http|^npm error|^Cannot|^added/;

export const run = (script: string, options: RunOptions) => (machine: Machine) =>
  machine.run(script, options);

export function inCheckout(name: string, script: string, options: RunOptions = {}) {
  return async (machine: Machine) => {
    machine.checkOut(name);
    return machine.run(script, { folder: name, ...options });
  };
}
