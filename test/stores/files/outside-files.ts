import { expect, it } from "vitest";
import type { OutsideFiles } from "../../../src/stores/files/outside-files.ts";

/** What every place of files does. */
export function itKeepsFiles(open: () => Promise<OutsideFiles>): void {
  it("has what was put, under its name, until everything below a name is removed", async () => {
    const files = await open();
    const bytes = Buffer.from([0, 255, 10, 13, 60]);
    await files.put("kept/aa/one", bytes);
    await files.put("kept/aa/one", Buffer.from("replaced"));
    await files.put("kept/aa/two", bytes);
    await files.put("kept/ab/three", bytes);
    expect(String(await files.get("kept/aa/one"))).toBe("replaced");
    expect(await files.get("kept/aa/two")).toEqual(bytes);
    expect(await files.get("kept/aa/none")).toBeNull();
    await files.removeBelow("kept/aa/");
    await files.removeBelow("kept/none/");
    const left = await Promise.all(["aa/one", "aa/two", "ab/three"].map((name) => files.get(`kept/${name}`)));
    expect(left).toEqual([null, null, bytes]);
  });

  it("moves, once and again, and nothing that is not there", async () => {
    const files = await open();
    await files.put("waiting/aa/one", Buffer.from("moved"));
    for (const _ of ["once", "again"]) await files.move("waiting/aa/one", "kept/aa/one");
    await files.move("waiting/aa/none", "kept/aa/none");
    expect(await files.get("waiting/aa/one")).toBeNull();
    expect(String(await files.get("kept/aa/one"))).toBe("moved");
    expect(await files.get("kept/aa/none")).toBeNull();
  });

  it("removes what is older than a time, whatever folder it is in", async () => {
    const files = await open();
    await files.put("waiting/aa/one", Buffer.from("1"));
    await files.put("waiting/ab/two", Buffer.from("2"));
    await files.removeBelow("waiting/", Date.now() - 60_000);
    expect(await files.get("waiting/aa/one")).not.toBeNull();
    await files.removeBelow("waiting/", Date.now() + 60_000);
    expect([await files.get("waiting/aa/one"), await files.get("waiting/ab/two")]).toEqual([null, null]);
    await files.removeBelow("waiting/", Date.now());
  });
}
