import type { Config } from "../config.ts";
import { createChannelVariables } from "../config/channel-variables.ts";
import type { ChannelVariables } from "../config/channel-variables.ts";
import { readNamedVariables } from "../installation/channels-file.ts";
import type { Terminal } from "./command/terminal.ts";

/**
 * The variables of this terminal's environment that channels may name, those of its CHANNELS_FILE included. A file that
 * cannot be read matters only to who asks for a channel's variables.
 */
export async function commandVariables(
  terminal: Terminal,
  { channelsFile }: Pick<Config, "channelsFile">,
): Promise<ChannelVariables> {
  return createChannelVariables({
    ...(channelsFile === null ? {} : { named: await readNamedVariables(channelsFile).catch(failing) }),
    env: terminal.env,
    onRefused: ({ slug, name, fault }) => terminal.err(`Channel ${slug} names $${name}, ${fault}\n`),
  });
}

function failing(error: unknown) {
  return {
    get(): never {
      throw error;
    },
  };
}
