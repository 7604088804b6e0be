import { Fact } from "../parts/fact.tsx";
import type { ChannelView } from "../service/views.ts";
import { mayOf, useConsole } from "../shell/console-context.ts";

/** What is not changed here; for who changes nothing, all of it. */
export function ChannelFacts({ channel }: { channel: ChannelView }) {
  const { me } = useConsole();
  const { agent } = channel;
  const servers = Object.keys(agent.mcpServers ?? {});
  const facts: [string, string][] = [
    [
      "Kind",
      channel.kind === "web" ? "Web: the widget, and pages" : "Transport: backends, bots, command lines",
    ],
    ...(channel.publishableKey === undefined
      ? []
      : [["Publishable key", channel.publishableKey] satisfies [string, string]]),
    ...(servers.length === 0 ? [] : [["Tools of", servers.join(", ")] satisfies [string, string]]),
    ...(mayOf(me).changeChannels ? [] : readOnlyFacts(channel)),
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <Fact key={name} name={name} mono={name === "Publishable key"}>
          {value}
        </Fact>
      ))}
    </dl>
  );
}

function readOnlyFacts({ enabled, accessMode, allowedOrigins, agent }: ChannelView): [string, string][] {
  return [
    ["State", enabled ? "on" : "off"],
    ["Access", accessMode === "open" ? "everybody who is not blocked" : "whitelisted users alone"],
    ...(allowedOrigins ? [["Origins", allowedOrigins.join(", ") || "none"] satisfies [string, string]] : []),
    ["Model", agent.model ?? "the default"],
    ["Instructions", agent.instructions ?? "none"],
  ];
}
