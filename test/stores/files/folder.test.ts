// For src/stores/files/folder.ts
import { describe } from "vitest";
import { folderOfFiles } from "../../../src/stores/files/folder.ts";
import { temporaryFolder } from "../../support/stores/data-dir.ts";
import { itKeepsFiles } from "./outside-files.ts";

describe("a folder of files", () => {
  itKeepsFiles(async () => folderOfFiles(`${temporaryFolder()}/files`));
});
