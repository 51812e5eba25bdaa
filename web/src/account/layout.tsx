import { Outlet } from '@tanstack/react-router';
import { Mark } from '../components/brand.tsx';
import classes from './layout.module.css';

/** Sign-up, sign-in and passwords: a form in the middle of a quiet page. */
export const AccountLayout = () => (
  <main className={classes['layout']}>
    <div className={classes['brand']}>
      <Mark size={36} />
      <span>AI Spend Gateway</span>
    </div>
    <div className={`card ${classes['form']}`}>
      <Outlet />
    </div>
    <p className={classes['promise']}>
      Point an SDK at the gateway, add one header, and know what every call costs. Prompts, answers and provider keys
      are never stored.
    </p>
  </main>
);
