// For src/widget/service/told-page.ts
import { expect, test } from "vitest";
import { toldPage } from "../../../src/widget/service/told-page.ts";

const told = (search: string, params: string | null = null) => toldPage({ pathname: "/p", search }, params);

test.each([
  ["", "/p"],
  ["?", "/p"],
  ["?id=7&color=red", "/p?id=7&color=red"],
  ["?a", "/p?a"],
  ["?reset_token=abc&id=7", "/p?reset_token=…&id=7"],
  ["?accessToken=a&api_key=b&apikey=c&key=d", "/p?accessToken=…&api_key=…&apikey=…&key=…"],
  ["?code=a&state=b&PHPSESSID=c&session_id=d", "/p?code=…&state=…&PHPSESSID=…&session_id=…"],
  [
    "?X-Amz-Signature=a&sig=b&oauth_verifier=c&Password=d",
    "/p?X-Amz-Signature=…&sig=…&oauth_verifier=…&Password=…",
  ],
  ["?%74oken=a", "/p?%74oken=…"],
  ["?token", "/p?token=…"],
  ["?token=a=b", "/p?token=…"],
  ["?keyword=mug&author=ann&postcode=1010&signed=1", "/p?keyword=mug&author=ann&postcode=1010&signed=1"],
  ["?q=%zz", "/p?q=%zz"],
])("the service is not told what smells of a secret: %s", (search, expected) => {
  expect(told(search)).toBe(expected);
});

test("it is told the parameters that the page names, and no others", () => {
  expect(told("?q=mug&category=a&q=b&token=c", "q, category")).toBe("/p?q=mug&category=a&q=b");
  expect(told("?q=mug&token=c", "")).toBe("/p");
  expect(told("?token=c", "token")).toBe("/p?token=c");
});

test("it is told of no more than it takes", () => {
  expect(told(`?q=${"a".repeat(600)}`)).toHaveLength(512);
});
