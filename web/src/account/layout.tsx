import { Outlet } from '@tanstack/react-router';
import { Mark } from '../components/brand.tsx';
import classes from './layout.module.css';

/** The frame of the sign-up, sign-in and password pages: one form in the middle. */
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
      Point an SDK at the gateway, add one header, and know what every request costs. Prompts, responses and provider
      keys are never stored.
    </p>
  </main>
);
