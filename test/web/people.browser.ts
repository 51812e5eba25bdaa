/** The dashboard in a real browser, `npm run test:web`: what people do with it. */
import './stories/first-run.ts';
import './stories/saved-views.ts';
import './stories/sessions.ts';
import './stories/sign-on.ts';
import './stories/connector.ts';
import './stories/people.ts';
import './stories/billing.ts';
import './stories/budgets.ts';
import './stories/allowances.ts';
import './stories/forms.ts';
import './stories/tasks.ts';
import './stories/prices.ts';
import './stories/reports.ts';
import './stories/destinations.ts';
import './stories/savings.ts';
import './stories/settings.ts';
import './stories/untrusted.ts';
