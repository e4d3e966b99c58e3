import type { Page } from 'playwright-core';

/**
 * Waits until the page shows all parts of a task, and until the click guard has ended. A part that arrives later starts
 * the guard again. Playwright waits for the end of the guard before a click, but not before a key press.
 */
export async function wholeTask(page: Page): Promise<void> {
  await page.getByRole('navigation').locator('.task').first().waitFor();
  await page.getByRole('region', { name: 'About this task' }).getByText('Directory').waitFor();
  await page.getByRole('region', { name: 'Story' }).waitFor();
  await page.locator('#page:not([data-changing])').waitFor();
}
