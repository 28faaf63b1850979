// Live samples and plots, on the pages that have them; comes after console.js (and uPlot).
"use strict";

(() => {
  const { all, shown, brief, day, clock, minute, Stream } = window.quita;
  const WINDOW_S = 15 * 60;
  const GAP_S = 20;
  const HEIGHT = 220;
  const COLOURS = 10;
  const WHOLE = [1, 2, 5].flatMap((step) => Array.from({ length: 10 }, (_, power) => step * 10 ** power)).sort((a, b) => a - b);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const at = (sample, path) => path.split(".").reduce((inner, name) => inner?.[name], sample);
  const number = (value) => (value === null || value === undefined || value === "" ? null : Number(value));
  const drawn = [];

  // --- drawing ---------------------------------------------------------------------------------------

  // The height of the plot starts at nothing, except of a rate that is always near the whole.
  function heights(format) {
    return (_plot, least, most) => {
      if (most === null || least === null) return [0, 1];
      if (format === "percent") return [Math.max(0, Math.floor((least - 2) / 10) * 10), 100];
      return [0, most > 0 ? most * 1.1 : 1];
    };
  }

  function options(spec, width) {
    const style = getComputedStyle(document.body);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const font = `12px ${style.fontFamily}`;
    const format = spec.series[0]?.format;
    const bars = uPlot.paths.bars({ size: [0.72, 40], radius: spec.series.length > 1 ? 0 : 0.15 });
    const axis = { stroke: colour("quiet"), font, ticks: { show: false } };
    const xs = spec.series.map((series, index) => {
      const stroke = colour(`plot-${(index % COLOURS) + 1}`);
      const isAlone = spec.series.length === 1;
      return {
        label: series.label,
        stroke,
        width: spec.isBars ? 0 : 2,
        fill: spec.isBars ? stroke : isAlone ? `color-mix(in srgb, ${stroke} 14%, transparent)` : undefined,
        paths: spec.isBars ? bars : undefined,
        points: { show: !spec.isTime && !spec.isBars, filter: alone, fill: stroke },
        value: (_plot, _value, _series, point) => shown(point === null ? latest(series.values) : series.values[point], series.format),
      };
    });
    const name = (plot, point) => (point === null ? "" : spec.isTime ? clock.format(new Date(plot.data[0][point] * 1000)) : spec.names[point]);
    return {
      width,
      height: HEIGHT,
      padding: [12, 24, 0, 0],
      cursor: { y: false, drag: { x: false, y: false } },
      legend: { markers: { width: 0, fill: (_plot, index) => drawnSeries(spec, xs)[index - 1].stroke } },
      scales: { x: { time: spec.isTime, range: spec.range }, y: { range: heights(format) } },
      series: [{ value: (plot, _value, _series, point) => name(plot, point) }, ...drawnSeries(spec, xs)],
      axes: [
        { ...axis, space: 64, size: 28, grid: { show: false }, incrs: spec.isTime ? [60, 120, 300, 600] : [1, 2, 5, 7, 10, 14, 30, 60, 90],
          values: (_plot, splits) => splits.map((split) => (spec.isTime ? clock.format(new Date(split * 1000)).replace(/:\d\d(?=\D*$)/, "") : spec.names[split] ?? "")) },
        { ...axis, space: 40, ...(format === "count" ? { incrs: WHOLE } : {}), grid: { stroke: colour("line"), width: 1 }, gap: 6,
          values: (_plot, splits) => splits.map((split) => brief(split, format)),
          size: (_plot, words) => 18 + 7 * Math.max(0, ...(words ?? []).map((word) => word.length)) },
      ],
    };
  }

  // A value between gaps makes no line: it is a point.
  const alone = (plot, place) => plot.data[place].flatMap((value, index, values) => (value !== null && (values[index - 1] ?? values[index + 1] ?? null) === null ? [index] : []));

  // Of bars on bars the tallest is drawn first.
  const drawnSeries = (spec, series) => (spec.isBars ? [...series].reverse() : series);

  function latest(values) {
    for (let index = values.length - 1; index >= 0; index -= 1) if (values[index] !== null) return values[index];
    return null;
  }

  function columns(spec) {
    if (!spec.isBars) return [spec.x, ...spec.series.map((series) => series.values)];
    const sums = spec.x.map(() => 0);
    const stacked = spec.series.map((series) => series.values.map((value, index) => (sums[index] += value ?? 0)));
    return [spec.x, ...stacked.reverse()];
  }

  class Drawing {
    constructor(figure, spec) {
      Object.assign(this, { figure, spec, plot: null });
      this.space = document.createElement("div");
      this.space.className = "plot-space";
      this.space.setAttribute("aria-hidden", "true");
      figure.append(this.space);
      figure.classList.toggle("plot-stacked", spec.isBars);
      this.draw();
      new ResizeObserver(() => this.plot.setSize({ width: this.space.clientWidth, height: HEIGHT })).observe(this.space);
      drawn.push(this);
    }

    draw() {
      this.plot?.destroy();
      this.plot = new uPlot(options(this.spec, this.space.clientWidth), columns(this.spec), this.space);
      // The legend keeps the order of the series, whatever was drawn first.
      if (this.spec.isBars) all(".u-series", this.space).forEach((row, index) => { row.style.order = index === 0 ? 0 : this.spec.series.length - index + 1; });
    }

    update() {
      this.plot.setData(columns(this.spec));
    }
  }

  dark.addEventListener("change", () => drawn.forEach((drawing) => drawing.draw()));

  // --- plots that the page brings --------------------------------------------------------------------

  // The same figures for those who can't see the drawing: a table behind it, one line for each name.
  class Table {
    constructor(figure, note = "") {
      this.body = document.createElement("table");
      this.body.createCaption().textContent = [figure.querySelector("figcaption")?.textContent ?? "", note].join(" ").trim();
      const wrap = document.createElement("div");
      wrap.className = "visually-hidden";
      wrap.append(this.body);
      figure.append(wrap);
    }

    fill(names, series) {
      all("tr", this.body).forEach((row) => row.remove());
      this.add(["", ...series.map(({ label }) => label)], true);
      names.forEach((name, index) => this.add([name, ...series.map(({ values, format }) => shown(values[index], format))], false));
    }

    add(cells, isHead) {
      const row = this.body.insertRow();
      cells.forEach((text, index) => {
        const cell = document.createElement(text !== "" && (isHead || index === 0) ? "th" : "td");
        if (cell.tagName === "TH") cell.scope = isHead ? "col" : "row";
        cell.textContent = text;
        row.append(cell);
      });
    }
  }

  const named = (text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? day.format(new Date(`${text}T12:00:00Z`)) : String(text));

  for (const figure of window.uPlot ? all("figure[data-plot]") : []) {
    const given = JSON.parse(figure.dataset.plot);
    const spec = {
      isTime: false,
      isBars: given.kind === "bars",
      x: given.x.map((_, index) => index),
      names: given.x.map(named),
      series: given.series.map((series) => ({ ...series, values: series.values.map(number) })),
      range: () => (given.kind === "bars" ? [-0.6, given.x.length - 0.4] : [0, Math.max(1, given.x.length - 1)]),
    };
    new Table(figure).fill(spec.names, spec.series);
    new Drawing(figure, spec);
  }

  // --- samples ---------------------------------------------------------------------------------------

  const url = document.body.dataset.samples;
  if (!url) return;

  const times = [];
  const live = (window.uPlot ? all("figure[data-series]") : []).map((figure) => {
    const paths = figure.dataset.series.split(",").map((path) => path.trim());
    const labels = (figure.dataset.labels ?? figure.dataset.series).split(",");
    const series = paths.map((path, index) => ({ path, label: (labels[index] ?? path).trim(), format: figure.dataset.format, values: [] }));
    const range = () => { const now = times.at(-1) ?? Date.now() / 1000; return [now - WINDOW_S, now]; };
    const drawing = new Drawing(figure, { isTime: true, isBars: false, x: times, names: [], series, range });
    return Object.assign(drawing, { table: new Table(figure, document.body.dataset.peaks) });
  });
  const eachSeries = (act) => live.forEach((drawing) => drawing.spec.series.forEach(act));

  // The tables tell the highest of each minute that is over, and change when one begins: who listens to them is not interrupted.
  let tabled = null;

  function fillTables() {
    const now = Math.floor((times.at(-1) ?? 0) / 60);
    if (now === tabled) return;
    tabled = now;
    const begun = [...new Set(times.map((second) => Math.floor(second / 60)))];
    const minutes = begun.length > 1 ? begun.filter((each) => each < now) : begun;
    const names = minutes.map((each) => minute.format(new Date(each * 60_000)));
    const peak = (values, each) => values.reduce((most, value, index) => (value !== null && Math.floor(times[index] / 60) === each ? Math.max(most ?? value, value) : most), null);
    live.forEach(({ table, spec }) => table.fill(names, spec.series.map((series) => ({ ...series, values: minutes.map((each) => peak(series.values, each)) }))));
  }

  function add(sample) {
    const second = sample.at / 1000;
    const last = times.at(-1);
    if (last !== undefined && second <= last) return;
    if (last !== undefined && second - last > GAP_S) {
      times.push(second - 1);
      eachSeries((series) => series.values.push(null));
    }
    times.push(second);
    eachSeries((series) => series.values.push(number(at(sample, series.path))));
    while (times[0] < second - WINDOW_S) {
      times.shift();
      eachSeries((series) => series.values.shift());
    }
  }

  function show(sample) {
    for (const element of all("[data-sample]")) {
      const value = at(sample, element.dataset.sample);
      const text = shown(value, element.dataset.format);
      if (element.textContent !== text) element.textContent = text;
      element.classList.toggle("sample-none", text === "–");
      if (element.dataset.warnAbove) element.classList.toggle("sample-high", Number(value) > Number(element.dataset.warnAbove));
    }
    if (document.hidden) return;
    live.forEach((drawing) => drawing.update());
    fillTables();
  }

  // What was missed while the page was away, or before it was opened.
  async function catchUp() {
    if (live.length === 0) return;
    try {
      const answer = await fetch(`${url}/history`, { cache: "no-store", headers: { Accept: "application/json" } });
      if (!answer.ok) return;
      const samples = await answer.json();
      if (samples.length === 0) return;
      times.length = 0;
      eachSeries((series) => { series.values.length = 0; });
      samples.forEach(add);
      tabled = null;
      live.forEach((drawing) => drawing.update());
      fillTables();
    } catch {
      // The samples that come by themselves will fill the plot.
    }
  }

  new Stream(url, "sample", (data) => {
    const sample = JSON.parse(data);
    add(sample);
    show(sample);
  }, catchUp);
})();
