// Figures that Python made, handed to plotly as they are but for colors and edges, which the style sheet knows.

let asked = null;

/** Load plotly's script from this daemon, once. */
export function plotly() {
  asked ??= new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = "/page/plotly.min.js";
    script.onload = () => done(globalThis.Plotly);
    script.onerror = () => { asked = null; fail(new Error("plotly's script cannot be loaded")); };
    document.head.append(script);
  });
  return asked;
}

/** Return the value of a color of the style sheet. */
export function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** Calm below 0.7 of the ceiling, hard steps at 0.7 and 1.0; of a map relative to itself calm throughout. */
export function scale(mode) {
  const calm = ["heat-0", "heat-1", "heat-2", "heat-3"].map(color);
  if (mode === "relative") return [...calm, color("heat-4")].map((one, index) => [index / 4, one]);
  const steps = calm.map((one, index) => [(index / 3) * 0.28, one]);
  return [...steps, [0.28, color("warm")], [0.4, color("warm")], [0.4, color("hot")], [1, color("hot")]];
}

/** Draw a figure into a place: no interaction of plotly's own, the style sheet's colors, the edges that are given. */
export async function draw(place, figure, { height, margin, layout = {} }) {
  const drawn = await plotly();
  const axis = { color: color("quiet"), gridcolor: color("line"), linecolor: color("line"), zeroline: false, fixedrange: true };
  const told = figure.layout ?? {};
  const { title: _title, template: _template, width: _width, legend: _legend, ...kept } = told;
  await drawn.react(place, figure.data, {
    ...kept,
    ...layout,
    height,
    margin: { pad: 0, ...margin },
    autosize: true,
    showlegend: false,
    dragmode: false,
    hovermode: false,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 11, color: color("quiet") },
    xaxis: { ...told.xaxis, ...axis, ...layout.xaxis, title: undefined },
    yaxis: { ...told.yaxis, ...axis, ...layout.yaxis, title: undefined },
  }, { staticPlot: true, responsive: true, displayModeBar: false, locale: "en-US" });
}
