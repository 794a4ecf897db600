// The door: the page is seen before all that makes it work is read.

import "./style.css";
import { painted } from "./painted";

void painted().then(() => import("./app"));
