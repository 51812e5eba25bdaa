/**
 * The dashboard in a real browser: `npm run test:web`. One file, so that all stories share one stack and one browser, which
 * take longer to start than most stories take. With SCREENSHOTS=1 they save screenshots in test/web/screenshots.
 */
import './stories/first-load.ts';
import './stories/first-run.ts';
import './stories/views.ts';
import './stories/overview.ts';
import './stories/saved-views.ts';
import './stories/figures.ts';
import './stories/one-figure.ts';
import './stories/requests.ts';
import './stories/failures.ts';
import './stories/sessions.ts';
import './stories/sign-on.ts';
import './stories/people.ts';
import './stories/billing.ts';
import './stories/budgets.ts';
import './stories/forms.ts';
import './stories/prices.ts';
import './stories/reports.ts';
import './stories/settings.ts';
import './stories/untrusted.ts';
