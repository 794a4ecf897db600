// Export: the open tab's result as a file, in any format or as a program needs it.

import { button, download, make, replace } from "./dom";
import { Cancelled, Gone } from "./faults";
import type { Picture, PictureSupport, PresetListed } from "./messages";
import { currentResult } from "./store";
import type { Mount } from "./tools";

const PICTURES: [Picture, string][] = [
  ["png", "Picture strip (PNG)"],
  ["svg", "Picture strip (SVG)"],
  ["gif", "Animation (GIF)"],
  ["mp4", "Video (MP4)"],
];

export const mountExport: Mount = (within, { store, api }) => {
  const format = make("select", {
    title: "format",
    class: "export-format",
    attrs: { "aria-label": "export format" },
    on: { change: () => describe() },
  });
  let presets: PresetListed[] = [];
  const go = button("Export", "write the result and download it (E)", () => void save(), "primary");
  const status = make("span", { class: "export-status", attrs: { role: "status" } });
  within.append(format, go, status);

  async function fill(): Promise<void> {
    const { body } = await api.ask("export.formats", {});
    presets = body.presets;
    const option = (value: string, text: string, title = ""): HTMLElement =>
      make("option", { title, attrs: { value } }, text);
    const group = (label: string, options: HTMLElement[]): HTMLElement =>
      make("optgroup", { attrs: { label } }, ...options);
    replace(
      format,
      group(
        "programs",
        presets.map((each) =>
          option(
            `preset:${each.name}`,
            each.verified ? `for ${each.title}` : `for ${each.title} (unverified)`,
            each.about,
          ),
        ),
      ),
      group(
        "formats",
        body.formats.map((each) => option(each.name, each.title)),
      ),
      group(
        "pictures",
        PICTURES.map(([kind, title]) =>
          picture(
            title,
            kind,
            body.pictures?.find((each) => each.kind === kind),
          ),
        ),
      ),
    );
    format.value = "bvh";
  }

  // Disabled where a package is missing, with the line that installs it.
  function picture(title: string, kind: Picture, able: PictureSupport | undefined): HTMLOptionElement {
    const missing = able !== undefined && !able.available;
    const option = make(
      "option",
      { title: missing ? `${able.reason} ${able.install}` : "", attrs: { value: `picture:${kind}` } },
      missing ? `${title}: ${able.install}` : title,
    );
    option.disabled = missing;
    return option;
  }

  // Shows what the program gets, and whether it was tested.
  function describe(): void {
    const preset = presets.find(({ name }) => format.value === `preset:${name}`);
    format.title = preset?.about ?? "format";
    status.textContent = preset && !preset.verified ? "unverified" : "";
  }

  async function save(): Promise<void> {
    const result = currentResult(store);
    if (!result || go.disabled) return;
    const [kind, name] = format.value.includes(":") ? format.value.split(":") : ["format", format.value];
    go.disabled = true;
    status.textContent = "";
    try {
      const what = String(result.answer.result);
      const { camera } = store.project.view;
      const { body } =
        kind === "picture"
          ? await api.ask("render.make", {
              result: result.answer.result,
              kind: name as Picture,
              view: camera,
            })
          : await api.ask("export.make", {
              what,
              format: kind === "preset" ? "" : name,
              preset: kind === "preset" ? name : null,
            });
      download(body.url, body.name);
      status.textContent = `${body.name}, ${(body.bytes / 1024).toFixed(0)} kB`;
      store.clear("export");
    } catch (error) {
      status.textContent = "";
      if (!(error instanceof Cancelled)) store.fail("export", error);
    } finally {
      go.disabled = !currentResult(store);
    }
  }

  document.addEventListener("keydown", (event) => {
    const on = event.target as HTMLElement;
    if (event.key === "e" && !event.ctrlKey && !event.metaKey && !on.closest("input, select, textarea")) void save();
  });
  let last: unknown = null;
  store.listen(() => {
    const result = currentResult(store);
    go.disabled = !result;
    if (result === last) return;
    last = result; // the text belongs to another result
    describe();
  });
  go.disabled = true;
  const begin = (): void =>
    void fill().catch((error: unknown) => (error instanceof Gone ? begin() : store.fail("export", error)));
  begin();
};
