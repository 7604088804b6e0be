import type { Command } from "commander";
import { systemClock } from "../../clock.ts";
import { RULES } from "../../stores/check/rules.ts";
import type { Remedy } from "../../stores/check/rules.ts";
import { checkStore } from "../../stores/check/check-store.ts";
import { suspicionsOf } from "../../stores/check/suspicions.ts";
import { printJson, printTable } from "../command/print.ts";
import { CannotDo } from "../command/terminal.ts";
import type { Terminal } from "../command/terminal.ts";
import { openProgress } from "./progress.ts";
import { withStoreData } from "./with-data.ts";

interface Told {
  fault: string;
  where: string;
  /** What --repair would do; null: nothing. */
  repair: string | null;
  /** What a person must decide; null: it can be repaired. */
  decision: string | null;
  repaired: boolean;
}

export function addCheck(store: Command, terminal: Terminal): void {
  store
    .command("check")
    .description("walk everything, and tell what does not fit together; exits 1 where something does not")
    .option("--repair", "repair what can be repaired")
    .option("--json", "print JSON")
    .action(async ({ repair = false, json = false }: { repair?: boolean; json?: boolean }) => {
      const progress = openProgress(terminal, () => systemClock.elapsed());
      await withStoreData(terminal, async (data) => {
        let [walked, suspect] = [0, 0];
        const show = () =>
          progress.show(
            () => `Looked at ${walked.toLocaleString("en")} records, ${suspect} of them look wrong`,
          );
        const walk = () =>
          suspicionsOf(data.engine, {
            isServed: async () => (await data.instances()) > 0,
            onWalked(records) {
              walked = records;
              show();
            },
          });
        const { told: faults, isAll } = await checkStore(walk, {
          repair,
          onSuspicion(count) {
            suspect = count;
            show();
          },
        }).finally(() => progress.end());
        const told = faults.map(({ fault: { rule, what }, repaired }): Told => {
          const remedy: Remedy = RULES[rule];
          const { repair: repairs = null, decision = null } = remedy;
          return { fault: rule, where: what, repair: repairs, decision, repaired };
        });
        if (json) printJson(terminal, { faults: told, complete: isAll });
        else print(terminal, told);

        const left = told.filter(({ repaired }) => !repaired).length;
        if (!isAll) throw new CannotDo(`Cannot tell of more than these: check again when they are repaired`);
        if (left === 0) return;
        const undecided = told.filter(({ decision }) => decision !== null).length;
        const asks =
          undecided === 0 ? "" : `; about ${undecided} of them a person must decide, as REPAIR says`;
        throw new CannotDo(`Cannot call the store sound: ${left} of its records do not fit${asks}`);
      });
    });
}

function print(terminal: Terminal, told: readonly Told[]): void {
  printTable(
    terminal,
    ["FAULT", "WHERE", "REPAIR", "DONE"],
    told.map(({ fault, where, repair, decision, repaired }) => [fault, where, repair ?? decision, repaired]),
    "Everything fits together",
  );
}
