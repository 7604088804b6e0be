import { embedded } from "../scenarios/houses.ts";
import { describeIdentity } from "./describe-identity.ts";

describeIdentity(embedded);
