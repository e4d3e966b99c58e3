/**
 * Measures the page while it scrolls: the time per frame that the browser's main thread spends on script, style and
 * layout. Painting is not part of it, because a browser without a graphics card paints in software. Run it with
 * `npm run build && node scripts/run.mjs test/bench/page-scroll.ts`.
 */
import type { Page } from 'playwright-core';
import type { GroupedTask, TaskGroups } from '../../shared/protocol/task-groups.ts';
import type { StoryPage } from '../../shared/protocol/task-story.ts';
import { startBrowser } from '../integration/client/support/browser.ts';
import { longStory } from '../integration/web/support/long-story.ts';
import { signIn } from '../integration/web/support/sign-in.ts';
import { startScene } from '../pictures/scene.ts';
import { sampleTask } from '../unit/a2a-server/page/browser/sample-task.ts';

const FRAMES = 300;
/** In pixels per frame. At 60 frames per second this is a fast throw of a finger. */
const STEP = 120;

const METRICS = ['ScriptDuration', 'LayoutDuration', 'RecalcStyleDuration'];

/** Returns the times of the frames, in milliseconds, the shortest first. */
async function scroll(page: Page): Promise<number[]> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const spent = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.reduce((sum, { name, value }) => (METRICS.includes(name) ? sum + value : sum), 0);
  };
  const times: number[] = [];
  let before = await spent();
  for (let frame = 0; frame < FRAMES; frame += 1) {
    // A long page scrolls up and down, so that each frame draws rows that were not on the screen.
    const direction = Math.floor(frame / 100) % 2 === 0 ? STEP : -STEP;
    await page.evaluate(
      `scrollBy(0, ${direction}); new Promise((done) => requestAnimationFrame(() => setTimeout(done)))`,
    );
    const after = await spent();
    times.push((after - before) * 1000);
    before = after;
  }
  await session.detach();
  return times.toSorted((a, b) => a - b);
}

function report(what: string, times: readonly number[]): void {
  const at = (share: number): string => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(1);
  process.stdout.write(`| ${what} | ${at(0.5)} ms | ${at(0.95)} ms |\n`);
}

function listOf(count: number): TaskGroups {
  const tasks = Array.from({ length: count }, (_, n): GroupedTask => sampleTask(`task-${n}`));
  const none = { tasks: [], total: 0, next: null };
  return {
    principal: 'local',
    waiting: none,
    working: none,
    ended: { tasks, total: count, next: null },
    attention: { tasks: [], count: 0 },
    workspaces: [],
    models: [],
  };
}

const scene = await startScene();
const browser = await startBrowser();
try {
  process.stdout.write('| view | median | p95 |\n| --- | ---: | ---: |\n');
  for (const count of [50, 1_000]) {
    const page = await (await browser.newContext()).newPage();
    await page.route('**/task-groups*', (route) => route.fulfill({ json: listOf(count) }));
    await signIn(page, scene);
    await page.goto(`${scene.url}/page#state=`);
    await page
      .locator('.tasks li')
      .nth(count - 1)
      .waitFor({ state: 'attached' });
    report(`list of ${count} tasks`, await scroll(page));
    await page.close();
  }
  for (const calls of [50, 2_500]) {
    const events = longStory(calls);
    const page = await (await browser.newContext()).newPage();
    await page.route('**/story?after=*', (route) => {
      const after = Number(new URL(route.request().url()).searchParams.get('after'));
      const part = events.slice(after, after + 2_000);
      const seq = after + part.length;
      return route.fulfill({ json: { events: part, seq, more: seq < events.length } satisfies StoryPage });
    });
    await signIn(page, scene, { taskId: scene.tasks.story });
    await page.getByText(`Call ${calls - 1}`, { exact: true }).waitFor();
    const earlier = page.getByRole('button', { name: /earlier steps? of/ });
    while ((await earlier.count()) > 0) await earlier.click();
    report(`story of ${events.length} events, all steps shown`, await scroll(page));
    await page.close();
  }
} finally {
  await browser.close();
  await scene.close();
}
