import type { Agent } from "../../agent.ts";
import type { Threads } from "../../threads/threads.ts";
import type { OperatorAdmission } from "../../admission/operator-admission.ts";
import type { Directory } from "../../admission/directory.ts";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config.ts";
import type { ChannelVariables } from "../../config/channel-variables.ts";
import type { OperatorRole } from "../../domain/people/operator.ts";
import type { Knowledge } from "../../knowledge.ts";
import type { ChannelKeys } from "../../keys.ts";
import type { PlainLog } from "../../log.ts";
import type { ThreadChanges } from "../../operators/threads/thread-changes.ts";
import type { Secret } from "../../secret.ts";
import type { Store } from "../../store.ts";
import type { Reads } from "../reads.ts";

/** The dependencies of the operator API. */
export interface OperatorApi {
  admission: OperatorAdmission;
  store: Store;
  threads: Pick<
    Threads,
    | "load"
    | "cancel"
    | "history"
    | "keptText"
    | "attachmentAddresses"
    | "follow"
    | "openFeed"
    | "isDraining"
    | "people"
    | "desk"
    | "approve"
    | "forgetting"
    | "files"
  >;
  reads: Reads;
  directory: Pick<Directory, "renew" | "channels" | "operatorOf">;
  threadChanges: ThreadChanges;
  channelVariables: ChannelVariables;
  /** null: the store keeps no documents. */
  /** Absent: nothing is drafted (the command line's API). */
  agent?: Pick<Agent, "think">;
  knowledge: Pick<Knowledge, "search" | "sources" | "sync" | "changed"> | null;
  clock: Clock;
  log: PlainLog;
  config: Pick<
    Config,
    | "publicUrl"
    | "serverMaxBodyBytes"
    | "webhooksPrivate"
    | "mcpPrivate"
    | "knowledgePrivate"
    | "maxTokensPerDay"
    | "contentKeys"
    | "agentMaxInputTokens"
    | "addressMaxTokensPerDay"
  >;
  /** Gets new keys that this instance may need at its next start. */
  keepKeys: KeptKeys;
}

export interface KeptKeys {
  channel(slug: string, keys: ChannelKeys): void;
  operator(name: string, key: Secret): void;
}

export const EVERY_ROLE: readonly OperatorRole[] = ["admin", "agent", "auditor"];
